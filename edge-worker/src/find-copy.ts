import type { Problem } from "@trendvault/contract/problem";
import type { Ask } from "./ask.ts";
import type { Handling } from "./cache-status.ts";
import type { Copy } from "./copy.ts";
import { freshnessAt } from "./freshness.ts";
import type { HeldCopies } from "./held-copies.ts";
import type { Fallback, Renewal, Renewals, Visit } from "./renewals.ts";

/** What a visitor gets: a copy, the origin's word that the request is wrong, or nothing for now. */
export type Found =
  | { kind: "copy"; copy: Copy; handling: Handling; originSeconds?: number }
  | { kind: "problem"; problem: Problem }
  | { kind: "nothing"; why: "origin-failed" | "too-many-misses" };

export type Finder = { held: HeldCopies; renewals: Renewals; clock: () => number };

/**
 * The three states: fresh is served; stale is served and renewed in the background; expired or absent waits for
 * the origin, and is served all the same if that fails.
 */
export async function findCopy(ask: Ask, visit: Visit, { held, renewals, clock }: Finder): Promise<Found> {
  const copy = await held.find(ask.target);
  const freshness = copy === null ? "unusable" : freshnessAt(clock(), copy);
  if (copy !== null && freshness === "fresh") return { kind: "copy", copy, handling: { forwarded: null } };
  if (copy !== null && freshness === "stale") {
    renewals.renewInBackground(ask, visit);
    return { kind: "copy", copy, handling: { forwarded: null, detail: "stale-while-revalidate" } };
  }
  const paused = renewals.paused(ask.target);
  if (paused !== null) return fromRenewal(paused, { forwarded: null });
  const { renewal, joined } = await renewals.renew(ask, visit);
  const forwarded = freshness === "unusable" ? "miss" : "stale";
  return fromRenewal(renewal, { forwarded, collapsed: joined });
}

function fromRenewal(renewal: Renewal, handling: Handling): Found {
  switch (renewal.kind) {
    case "problem":
      return renewal;
    case "found":
      return { kind: "copy", copy: renewal.copy, handling: { forwarded: null } };
    case "copy":
      return { ...renewal, handling: { ...handling, forwardStatus: 200, stored: true } };
    case "refused":
      return (
        fromFallback(renewal.fallback, { forwarded: null }) ?? { kind: "nothing", why: "too-many-misses" }
      );
    case "failure": {
      const status =
        renewal.status === null || handling.forwarded === null ? {} : { forwardStatus: renewal.status };
      return (
        fromFallback(renewal.fallback, { ...handling, ...status }) ?? {
          kind: "nothing",
          why: "origin-failed",
        }
      );
    }
  }
}

function fromFallback(fallback: Fallback | null, handling: Handling): Found | null {
  if (fallback === null) return null;
  return { kind: "copy", copy: fallback.copy, handling: { ...handling, detail: fallback.from } };
}
