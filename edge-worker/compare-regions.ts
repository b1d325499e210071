import { requireSameRegions } from "@trendvault/contract/regions";

// Says whether an edge was built for the regions that its origin, or its bundles, publish. Exits with 1 when it was not.
//   bun edge-worker/compare-regions.ts https://trending.example.com

try {
  console.log(`The edge has the regions that are published: ${await requireSameRegions(Bun.argv[2])}.`);
} catch (error) {
  console.error((error as Error).message);
  process.exit(1);
}
