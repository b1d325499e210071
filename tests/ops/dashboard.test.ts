import { expect, test } from "bun:test";
import { readPanels } from "./test-support/rules.ts";

test("every panel reads the data source that is chosen, and has a place and a number of its own", () => {
  const panels = readPanels();
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  expect(new Set(panels.map(({ gridPos }) => `${gridPos.x} ${gridPos.y}`)).size).toBe(panels.length);
  for (const { type, title, datasource, targets = [] } of panels)
    if (type !== "row")
      expect([title, datasource?.uid, targets.length > 0]).toEqual([title, "$datasource", true]);
});
