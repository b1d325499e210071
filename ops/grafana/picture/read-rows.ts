import type { WatchedSystem } from "../../../tests/ops/test-support/watched-system.ts";
import { rows } from "../panels.ts";

export type Line = { name: string; points: readonly [second: number, value: number][] };
export type DrawnPanel = { title: string; unit: string; limit?: number; max?: number; lines: Line[] };
export type DrawnRow = { title: string; panels: DrawnPanel[] };
/** From and to in Unix seconds. */
export type TimeRange = { from: number; to: number };

const pointsOfLine = 160;
/** What Grafana puts in for this scrape interval is shorter, and would show every request alone. */
const rateInterval = "1m";

/** What each panel of the dashboard shows of a time, as Grafana asks for it. */
export async function readRows(
  system: Pick<WatchedSystem, "queryRange" | "withSampleAddresses">,
  range: TimeRange,
): Promise<DrawnRow[]> {
  const step = Math.max(1, Math.round((range.to - range.from) / pointsOfLine));
  const drawn: DrawnRow[] = [];
  for (const { title, panels } of rows) {
    const row: DrawnRow = { title, panels: [] };
    for (const { queries, ...panel } of panels) {
      const lines: Line[] = [];
      for (const { expr, legend } of queries)
        for (const { labels, points } of await system.queryRange(
          expr.replaceAll("$__rate_interval", rateInterval),
          {
            ...range,
            step,
          },
        ))
          lines.push({ name: system.withSampleAddresses(nameOf(legend, labels)), points });
      row.panels.push({ ...panel, lines });
    }
    drawn.push(row);
  }
  return drawn;
}

/** The legend of a query with the labels of a series in the place of their names. */
export function nameOf(legend: string, labels: Readonly<Record<string, string>>): string {
  return legend.replace(/\{\{(\w+)\}\}/g, (_, label: string) => labels[label] ?? "none");
}
