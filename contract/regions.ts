import builtIn from "@trendvault/contract/default-regions";
import type { Region, RegionTable } from "./region-table.ts";

// These change when a program calls useRegions(): whatever it loads reads them when it needs them, and derives nothing
// of them while modules load. So it does not matter when useRegions() is called, as long as it is before the first request.

/** The regions in the order of their file. */
export let regions: readonly Region[];

export let regionCodes: readonly string[];

/** The region of a request that names none and whose country the edge does not know. */
export let defaultRegion: string;

let byCode: ReadonlyMap<string, Region>;

/** What a program without a setting has. */
export const builtInRegions: RegionTable = builtIn;

/** Those of a deployment that names its own; null: those that are built in. */
export let ownRegions: RegionTable | null;

useRegions(null);

/** Replaces the regions of this program by those of a deployment; null: by those that are built in. */
export function useRegions(table: RegionTable | null): void {
  ownRegions = table;
  ({ regions, default: defaultRegion } = table ?? builtIn);
  byCode = new Map(regions.map((region) => [region.code, region]));
  regionCodes = [...byCode.keys()];
}

/** The region with a code, or undefined. */
export function findRegion(code: string): Region | undefined {
  return byCode.get(code);
}
