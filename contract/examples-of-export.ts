import { trendingPageExample } from "./examples.ts";
import type { ExportHead, ExportItem } from "./export-lines.ts";

const { region, generation, generated_at, previous_generated_at, newest_observed_at, channel_limit, items } =
  trendingPageExample;

const head: ExportHead = {
  region,
  generation,
  generated_at,
  previous_generated_at,
  newest_observed_at,
  channel_limit,
  lists: [{ window: "day", count: items.length, total: items.length }],
  count: items.length,
};
const lines: ExportItem[] = items.map((item) => ({ window: "day", ...item }));

/** An export of one rank, for the description. */
export const exportExample = [head, ...lines].map((line) => `${JSON.stringify(line)}\n`).join("");
