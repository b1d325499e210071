import { expect, test } from "bun:test";
import { drawChart } from "./chart.ts";

test("a chart has a curve for each line, a mark for each event, and no markup of a name", () => {
  const line = {
    name: "origin & edge",
    color: "#000",
    points: [
      [0, 1],
      [60, 3],
    ] as [number, number][],
  };
  const svg = drawChart("A run <here>", {
    panels: [{ title: "Memory", lines: [line, line] }],
    marks: [{ second: 30, name: "a kill" }],
    seconds: 60,
  });
  expect(svg.match(/<polyline/g)).toHaveLength(2);
  expect(svg).toContain("<title>a kill</title>");
  expect(svg).toContain("A run &#60;here&#62;");
  expect(svg).toContain("origin &#38; edge");
  expect(svg).not.toContain("NaN");
});
