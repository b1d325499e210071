import { readToken, tokenMinute, tokenWindowMinutes } from "@trendvault/contract/token";
import { readCursor, type TrendingQuery } from "@trendvault/contract/trending-query";

/** The members of a trending page that tell which one it is. contract/responses.ts has all of them. */
export type PageIdentity = {
  region: string;
  window: string;
  category: string | null;
  generation: number;
  count: number;
  token: string;
};

/** Why a page is not the one that was requested at a Unix time in seconds; null when it is. */
export function pageMismatch(page: PageIdentity, query: TrendingQuery, now: number): string | null {
  if (page.region !== query.region) return "it is for another region";
  if (page.window !== query.window) return "it is for another window";
  if (page.category !== (query.category ?? null)) return "it is for another category";
  if (!(page.count <= query.limit)) return "it has more items than requested";
  if (query.cursor !== undefined && readCursor(query.cursor).generation !== page.generation) {
    return "it is of another generation";
  }
  return tokenMismatch(page, now);
}

// A signature has no end; the token in the body tells when the page was made.
function tokenMismatch({ token, region, count }: PageIdentity, now: number): string | null {
  const parts = readToken(String(token));
  if (parts === null || parts.region !== region || parts.count !== count)
    return "its token is for another page";
  const age = tokenMinute(now * 1000) - parts.minute;
  const isCurrent = age <= tokenWindowMinutes.behind && age >= -tokenWindowMinutes.ahead;
  return isCurrent ? null : "it was not made now";
}
