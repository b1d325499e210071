import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { readPanels, readRules } from "./watched-system.ts";

const runbook = readFileSync(resolve(import.meta.dir, "../../docs/runbook.md"), "utf8");
const sections = new Map(
  runbook
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.split("\n", 1)[0] ?? "", section] as const),
);

test("the runbook has a section for each alert, in the order of the rules, and no other", () => {
  expect([...sections.keys()]).toEqual(readRules().map(({ alert }) => alert));
});

test.each([...sections])(
  "%s says what it means, what visitors notice, what to do and when it is over",
  (_, text) => {
    const order = ["**Means:**", "**Visitors", "**Do:**", "**Over**"].map((word) => text.indexOf(word));
    expect(order).not.toContain(-1);
    expect(order).toEqual(order.toSorted((left, right) => left - right));
  },
);

test.each(readRules().map((rule) => [rule.alert, rule] as const))(
  "%s has a severity, a summary, what visitors notice and the address of its section",
  (alert, { labels, annotations }) => {
    expect(["page", "ticket"]).toContain(labels.severity ?? "");
    expect(annotations.summary).toBeString();
    expect(annotations.description).toStartWith("Visitors: ");
    expect(annotations.runbook_url).toEndWith(`/docs/runbook.md#${alert.toLowerCase()}`);
  },
);

test("every panel reads the data source that is chosen, and has a place and a number of its own", () => {
  const panels = readPanels();
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  expect(new Set(panels.map(({ gridPos }) => `${gridPos.x} ${gridPos.y}`)).size).toBe(panels.length);
  for (const { type, title, datasource, targets = [] } of panels)
    if (type !== "row")
      expect([title, datasource?.uid, targets.length > 0]).toEqual([title, "$datasource", true]);
});
