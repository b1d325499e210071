import * as z from "zod";
import { longestToken } from "./token.ts";
import { largestLimit, longestList } from "./trending-query.ts";
import type { ViewMessage as Message } from "./view-message.ts";

/** What readViewMessage reads, for the OpenAPI document: in a file of its own, the edge does not bundle it. */
export const ViewMessage = z.strictObject({
  token: z.string().max(longestToken),
  seen: z.int().min(0).max(longestList.all),
  opened: z
    .array(z.int().min(1).max(longestList.all))
    .max(largestLimit)
    .refine((ranks) => new Set(ranks).size === ranks.length),
}) satisfies z.ZodType<Message>;
