import { h, type ViewElement } from "./nodes.ts";

const width = 96;
const height = 28;
const margin = 2; // half of the stroke and of the last dot stay within the picture

const fewestPoints = 4; // of fewer there is more of the dot than of a line

/** Hourly values as a line, oldest first; where one is null, the line has a gap. Null when too few of them are known. */
export function sparkline(values: readonly (number | null)[], label: string): ViewElement | null {
  const points = values.flatMap((value, hour) => (value === null ? [] : [{ hour, value }]));
  const last = points.at(-1);
  if (last === undefined || points.length < fewestPoints) return null;
  const largest = Math.max(...points.map(({ value }) => value), 1);
  const x = (hour: number) => round(margin + (hour / (values.length - 1)) * (width - 2 * margin));
  const y = (value: number) => round(height - margin - (value / largest) * (height - 2 * margin));
  const path = points.map(({ hour, value }, index) => {
    const isConnected = points[index - 1]?.hour === hour - 1;
    return `${isConnected ? "L" : "M"}${x(hour)} ${y(value)}`;
  });
  return h(
    "svg",
    {
      class: "sparkline",
      part: "sparkline",
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": label,
    },
    h("path", { d: path.join(""), fill: "none" }),
    h("circle", { cx: x(last.hour), cy: y(last.value), r: 2 }),
  );
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
