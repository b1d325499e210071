import * as z from "zod/mini";
import { longestToken } from "./token.ts";
import type { TokenList } from "./token-subject.ts";
import { largestLimit, longestList } from "./trending-query.ts";

/** Bytes of a message at most. The longest that is valid takes less than half of it. */
export const largestMessage = 2048;

const rank = z.int({ error: "expected whole numbers" }).check(z.minimum(1), z.maximum(longestList.all));

/** What a page tells of one list that it has shown (POST /api/views). The OpenAPI document is made from it as well. */
export const ViewMessage = z.strictObject({
  token: z.string({ error: "expected the token of the list" }).check(z.maxLength(longestToken)),
  seen: z
    .int({ error: "expected the deepest rank that was on screen, or 0" })
    .check(z.minimum(0), z.maximum(longestList.all)),
  opened: z.array(rank, { error: "expected the ranks that were opened" }).check(
    z.maxLength(largestLimit),
    z.refine((ranks) => new Set(ranks).size === ranks.length, { error: "expected each rank once" }),
  ),
});
export type ViewMessage = z.infer<typeof ViewMessage>;

/** What a message adds to the counts of a list: looks at the ranks from `firstSeen` to `lastSeen`, views of `opened`. */
export type ViewCounts = { firstSeen: number; lastSeen: number; opened: number[] };

/** Reads a message, or says what is wrong with it and repeats nothing of it. */
export function readViewMessage(text: string): ViewMessage | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "expected JSON";
  }
  const parsed = ViewMessage.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (issue === undefined || issue.path.length === 0)
    return "expected an object of token, seen and opened only";
  return `${String(issue.path[0])}: ${issue.message}`;
}

/** What a message counts of the list that its token names, or what is wrong with its ranks. */
export function countsOf({ seen, opened }: ViewMessage, { offset, count }: TokenList): ViewCounts | string {
  const last = offset + count;
  if (seen !== 0 && (seen <= offset || seen > last)) return "seen: expected a rank of the page, or 0";
  if (opened.some((one) => one <= offset || one > last)) return "opened: expected ranks of the page";
  if (seen !== 0 && opened.some((one) => one > seen)) return "opened: expected ranks that were seen";
  if (seen === 0 && opened.length === 0) return "expected a rank seen or opened";
  return { firstSeen: offset + 1, lastSeen: seen === 0 ? offset : seen, opened };
}
