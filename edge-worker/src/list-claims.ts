import { readToken, tokenMinute } from "@trendvault/contract/token";
import { readCursor, type TrendingQuery } from "@trendvault/contract/trending-query";

/** What a list says about itself: the part of its body that is read here. contract/responses.ts has all of it. */
export type ListClaims = {
  region: string;
  window: string;
  category: string | null;
  generation: number;
  count: number;
  token: string;
};

const tokenMinutes = { ahead: 1, behind: 15 }; // how long a token is valid: contract/token.ts

/** Why a list is not the one that was asked for, at a Unix time in seconds; null when it is. */
export function contradiction(claims: ListClaims, query: TrendingQuery, now: number): string | null {
  if (claims.region !== query.region) return "it is for another region";
  if (claims.window !== query.window) return "it is for another window";
  if (claims.category !== (query.category ?? null)) return "it is for another category";
  if (!(claims.count <= query.limit)) return "it is longer than asked for";
  if (query.cursor !== undefined && readCursor(query.cursor).generation !== claims.generation) {
    return "it is of another generation";
  }
  return tokenContradiction(claims, now);
}

// A signature is good for ever; the token in the body tells when the answer was made.
function tokenContradiction({ token, region, count }: ListClaims, now: number): string | null {
  const parts = readToken(String(token));
  if (parts === null || parts.region !== region || parts.count !== count)
    return "its token is for something else";
  const age = tokenMinute(now * 1000) - parts.minute;
  return age > tokenMinutes.behind || age < -tokenMinutes.ahead ? "it was not made now" : null;
}
