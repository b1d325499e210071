import { readRegionTable, useRegions } from "@trendvault/contract/regions";
import { Inspector } from "../database/inspector.ts";
import type { InspectorMessage } from "./messages.ts";

const intervalMs = 1000;
// Milliseconds of CPU for a look, and at most a list more: the 30 MB of the demo are read in two looks.
const budget = { afterChangeMs: 20, idleMs: 0.5 };

/** Looks at the database once a second and tells the supervisor; ends with it. */
export function runInspector(path: string): void {
  const { REGIONS_TABLE: regions = "" } = process.env;
  useRegions(regions === "" ? null : readRegionTable(regions));
  process.on("disconnect", () => process.exit(0));
  process.on("SIGHUP", () => {}); // for the supervisor; a terminal sends it to all
  const inspector = new Inspector(path);
  const look = () => process.send?.(inspector.inspect(budget) satisfies InspectorMessage);
  look();
  setInterval(look, intervalMs);
}
