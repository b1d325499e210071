import * as z from "zod";
import { region, TrendingItem, TrendingPage, type Widened, window } from "./responses.ts";

const { generation, generated_at, previous_generated_at, newest_observed_at, channel_limit, total } =
  TrendingPage.shape;
const count = z.int().min(0);

/** The first line of an export. */
export const ExportHead = z
  .strictObject({
    region,
    generation,
    generated_at,
    previous_generated_at,
    newest_observed_at,
    channel_limit,
    lists: z.array(z.strictObject({ window, count, total })).meta({
      description: "The lists that follow, in this order: `count` is the lines of one, `total` its last rank",
    }),
    count: count.meta({ description: "The lines that follow; fewer came: the transfer broke off" }),
  })
  .meta({ id: "ExportHead", description: "The first line of an export" });
export type ExportHead = Widened<z.infer<typeof ExportHead>>;

/** Each further line. */
export const ExportItem = z
  .strictObject({ window, ...TrendingItem.shape })
  .meta({ id: "ExportItem", description: "A further line of an export: a rank of one of its lists" });
export type ExportItem = Widened<z.infer<typeof ExportItem>>;
