import { listLengths } from "./lists.ts";
import { regionCodes } from "./regions.ts";
import { longestToken, type TokenList } from "./token.ts";

/** Limits of counting, for the edge, which leaves the schemas of its answers out of its bundle. */
export const viewLimits = {
  /** The largest number of shards that a region may have. */
  shards: 64,
  /** Closed minutes are kept for so long. They are deleted within an hour after it. */
  keptHours: 48,
  /** Rows that an answer has at most, unless its first minute alone has more. */
  pullRows: { default: 1000, most: 10_000 },
  /** Bytes of a message at most. The longest that is valid takes less than half of it. */
  messageBytes: 2048,
} as const;

/** A shard's name: `GB-0` to `GB-63`. */
export const shardPattern = new RegExp(`^(${regionCodes.join("|")})-([0-9]|[1-5][0-9]|6[0-3])$`);

/**
 * What a page tells of one list that it has shown (POST /api/views): the list's token, the deepest rank that was on screen,
 * or 0, and the ranks that were opened.
 */
export type ViewMessage = { token: string; seen: number; opened: number[] };

/** What a message adds to the counts of a list: impressions of the ranks from `firstSeen` to `lastSeen`, clicks on `opened`. */
export type ViewCounts = { firstSeen: number; lastSeen: number; opened: number[] };

/**
 * Reads a message, or says what is wrong with it and repeats nothing of it. It reads what the schema of the OpenAPI
 * document (view-message-schema.ts) describes, without a schema library: every page view sends one.
 */
export function readViewMessage(text: string): ViewMessage | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "expected JSON";
  }
  // Names and token are four texts: a fifth is a member's second value, which a parser drops without a word.
  if (!hasMembers(value) || text.split('"').length !== 9) return "expected token, seen and opened, each once";
  const { token, seen, opened } = value;
  if (typeof token !== "string" || token.length > longestToken)
    return "token: expected the token of the list";
  if (seen !== 0 && !isRank(seen)) return "seen: expected the deepest rank that was on screen, or 0";
  if (!areRanks(opened)) return "opened: expected the ranks that were opened, each once";
  return { token, seen, opened };
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

function hasMembers(value: unknown): value is Record<keyof ViewMessage, unknown> {
  return (
    value !== null &&
    Object.keys(value as object)
      .sort()
      .join() === "opened,seen,token"
  );
}

function isRank(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= listLengths.longest.all;
}

function areRanks(value: unknown): value is number[] {
  if (!Array.isArray(value) || value.length > listLengths.largestPage) return false;
  return value.every(isRank) && new Set(value).size === value.length;
}
