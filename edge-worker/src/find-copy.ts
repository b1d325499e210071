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

const notForwarded: Handling = { forwarded: null };

/**
 * The three states: fresh is served; stale is served and renewed in the background; expired or absent waits for
 * the origin, and is served all the same if that fails. Who comes after a failure does not wait to see another.
 */
export async function findCopy(ask: Ask, visit: Visit, { held, renewals, clock }: Finder): Promise<Found> {
  const copy = await held.find(ask.target);
  const freshness = copy === null ? "unusable" : freshnessAt(clock(), copy);
  if (copy !== null && freshness === "fresh") return { kind: "copy", copy, handling: notForwarded };
  if (copy !== null && freshness === "stale") {
    renewals.renewInBackground(ask, visit);
    return { kind: "copy", copy, handling: { forwarded: null, detail: "stale-while-revalidate" } };
  }
  const setback = renewals.setback(ask.target);
  if (setback !== null && (setback.pausing || hasFallback(setback.renewal))) {
    renewals.renewInBackground(ask, visit);
    return fromRenewal(setback.renewal, notForwarded);
  }
  const { renewal, joined } = await renewals.renew(ask, visit);
  const forwarded = freshness === "unusable" ? "miss" : "stale";
  return fromRenewal(renewal, { forwarded, collapsed: joined });
}

function fromRenewal(renewal: Renewal, handling: Handling): Found {
  switch (renewal.kind) {
    case "problem":
      return renewal;
    case "found":
      return { ...renewal, kind: "copy", handling: notForwarded };
    case "copy":
      return { ...renewal, handling: { ...handling, forwardStatus: 200, stored: true } };
    case "refused":
      return fromFallback(renewal.fallback, notForwarded) ?? { kind: "nothing", why: "too-many-misses" };
    case "failure":
      return (
        fromFallback(renewal.fallback, withStatus(handling, renewal.status)) ?? {
          kind: "nothing",
          why: "origin-failed",
        }
      );
  }
}

function hasFallback(renewal: Renewal): boolean {
  return renewal.kind === "failure" && renewal.fallback !== null;
}

function fromFallback(fallback: Fallback | null, handling: Handling): Found | null {
  if (fallback === null) return null;
  return { kind: "copy", copy: fallback.copy, handling: { ...handling, detail: fallback.from } };
}

function withStatus(handling: Handling, status: number | null): Handling {
  return status === null || handling.forwarded === null ? handling : { ...handling, forwardStatus: status };
}
