import { ownRegions, type RegionTable } from "@trendvault/contract/regions";

/** What only pages and feeds need, loaded with the first of them: the build has it in a file of its own. */
export function forPeople(): typeof import("./for-people.ts") {
  const people = require("./for-people.ts") as typeof import("./for-people.ts");
  if (people.ownRegions !== ownRegions) people.useRegions(ownRegions); // that file has a copy of the contract
  return people;
}

/** The description of the API, as committed or with other regions; loaded likewise. */
export function describeApi(regions: RegionTable | null): string {
  const { openapiText, rewriteRegions } = require("./openapi-text.ts") as typeof import("./openapi-text.ts");
  return regions === null ? openapiText : rewriteRegions(openapiText, regions);
}
