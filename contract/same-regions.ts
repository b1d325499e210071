import { regionsPath, trendingPath } from "./paths.ts";

/** The codes of the regions. @throws Error when the edge was built for others than those at /api/regions, or does not answer */
export async function requireSameRegions(edgeUrl = ""): Promise<string> {
  const url = URL.parse(regionsPath, edgeUrl);
  if (url === null) throw new Error("Expected the URL of the edge, like https://trending.example.com");
  const [published, own] = await Promise.all([readPublished(url), readOwn(new URL(trendingPath, url))]);
  if (published === own) return published;
  throw new Error(
    `The edge was built for the regions ${own}, and those at ${url} are ${published}. Build it with the file that ` +
      "REGIONS_FILE names at the writer and the origin (docs/markets.md).",
  );
}

async function readPublished(url: URL): Promise<string> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answered with status ${response.status}`);
  const { regions } = (await response.json()) as { regions: { code: string }[] };
  return regions.map(({ code }) => code).join(", ");
}

/** The edge refuses a region that it does not have by itself, and says which it has. */
async function readOwn(url: URL): Promise<string> {
  url.searchParams.set("region", "none");
  const response = await fetch(url);
  const { invalid } = (await response.json()) as { invalid?: { name: string; detail: string }[] };
  const detail = invalid?.find(({ name }) => name === "region")?.detail;
  if (detail === undefined) throw new Error(`${url} answered with status ${response.status}, expected 400`);
  return detail.replace(/^expected one of /, "");
}
