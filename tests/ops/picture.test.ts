import { expect, test } from "bun:test";
import { resolve } from "node:path";
import { XMLValidator } from "fast-xml-parser";
import { rows as panelRows } from "../../ops/grafana/panels.ts";
import { drawPicture } from "../../ops/grafana/picture/draw-picture.ts";
import { endOfAxis, formatValue } from "../../ops/grafana/picture/format-value.ts";
import { type DrawnPanel, nameOf, readRows } from "../../ops/grafana/picture/read-rows.ts";

const range = { from: 1_000_000, to: 1_000_600 };

test("a value is written in the largest part of its unit, with three figures", () => {
  const written = [
    [0.0123, "s", "12.3 ms"],
    [150, "s", "2.5 min"],
    [172_800, "s", "2 d"],
    [73_400_320, "bytes", "70 MiB"],
    [0.0512, "percentunit", "5.12 %"],
    [1234, "short", "1.23k"],
    [12.34, "reqps", "12.3/s"],
    [0, "bytes", "0"],
  ] as const;
  for (const [value, unit, text] of written) expect(formatValue(value, unit)).toBe(text);
});

test("every unit of the dashboard can be written", () => {
  for (const { unit } of panelRows.flatMap(({ panels }) => panels)) expect(formatValue(1, unit)).not.toBe("");
  expect(() => formatValue(1, "celsius")).toThrow("celsius");
});

test("an axis ends at a round value that is not below the largest", () => {
  expect([0, 0.37, 3, 130, 73_400_320].map((value) => endOfAxis(value, "s"))).toEqual([
    1, 0.5, 5, 300, 86_400_000,
  ]);
  expect(endOfAxis(73_400_320, "bytes")).toBe(100 * 2 ** 20);
});

test("a line is called by the labels of its series", () => {
  expect(nameOf("{{instance}} worker {{worker}}", { instance: "a:1", worker: "2" })).toBe("a:1 worker 2");
});

test("each panel of the dashboard is drawn with all its series, and asks for rates of a minute", async () => {
  const asked: string[] = [];
  const points: [number, number][] = [
    [range.from, 1],
    [range.to, 2],
  ];
  const queryRange = async (expr: string) => {
    asked.push(expr);
    return [{ labels: {}, points }];
  };
  const rows = await readRows({ queryRange, withSampleAddresses: (text) => text }, range);
  const panels = panelRows.flatMap(({ panels }) => panels);
  const drawn = drawPicture({ title: "A & B", subtitle: "", marks: [] }, rows, range);

  expect(asked).toHaveLength(panels.flatMap(({ queries }) => queries).length);
  expect(asked.join()).not.toContain("$");
  expect(XMLValidator.validate(drawn)).toBe(true);
  for (const { title } of [...panelRows, ...panels]) expect(drawn).toContain(`>${title}<`);
  expect(drawn.match(/<polyline/g)).toHaveLength(asked.length);
});

test("a gap in a series stays a gap, and a panel without series says so", () => {
  const points = [0, 10, 20, 30, 40, 50].map((at): [number, number] => [
    range.from + at,
    at === 20 ? Number.NaN : 50,
  ]);
  const line = drawOne({ lines: [{ name: "a", points }] });
  expect(line.match(/<polyline/g)).toHaveLength(2);
  expect(line).toContain(">50</text>"); // where the axis ends
  expect(drawOne({ lines: [] })).toContain("no data");
});

test("names that have no room are counted", () => {
  const lines = Array.from({ length: 12 }, (_, index) => ({
    name: `a long name, number ${index}`,
    points: [],
  }));
  expect(drawOne({ lines })).toContain("and 8 more");
});

test("the picture in the docs is of this dashboard, with the names of the sample configuration", async () => {
  const picture = await Bun.file(resolve(import.meta.dir, "../../docs/dashboard.svg")).text();
  for (const { title } of panelRows.flatMap(({ panels }) => panels))
    expect([title, picture.includes(`>${title}<`)]).toEqual([title, true]);
  expect(picture.includes("127.0.0.1")).toBe(false);
});

function drawOne(panel: Pick<DrawnPanel, "lines">): string {
  const row = { title: "Row", panels: [{ title: "Panel", unit: "short", ...panel }] };
  return drawPicture({ title: "T", subtitle: "S", marks: [] }, [row], range);
}
