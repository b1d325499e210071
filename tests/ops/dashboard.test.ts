import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { buildDashboard } from "../../ops/grafana/dashboard.ts";

const path = resolve(import.meta.dir, "../../ops/grafana/trendvault.json");

test("trendvault.json is what ops/grafana/build.ts makes of the panels", () => {
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual(JSON.parse(JSON.stringify(buildDashboard())));
});

test("every panel reads the data source that is chosen, and has a place and a number of its own", () => {
  const panels = buildDashboard().panels ?? [];
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  expect(new Set(panels.map(({ gridPos }) => `${gridPos?.x} ${gridPos?.y}`)).size).toBe(panels.length);
  for (const panel of panels)
    if (panel.type !== "row") expect(panel).toMatchObject({ datasource: { uid: "$datasource" } });
});
