import { setTimeout } from "node:timers/promises";
import { defaultRegion } from "@trendvault/contract/regions";
import type { TrendingPage } from "@trendvault/contract/responses";
import { type Random, visit, visitorHeaders } from "./visit.ts";

/** `edge` is its URL; `regions` are the codes of the markets that are visited. */
export type VisitorOptions = {
  edge: string;
  regions: readonly string[];
  perSecond: number;
  random?: Random;
};

/** What simulated visitors were told: `counted` messages were acknowledged, `refused` were not. */
export type VisitCounts = { counted: number; refused: number };

const mostAtOnce = 200; // an acknowledgement takes up to a second: messages are added together

/**
 * Visits lists through the edge and tells it what was looked at, as the page of a site would, until the signal aborts.
 * A visit that fails is counted, and the next ones go on: the edge may be starting again.
 */
export async function runVisitors(
  { edge, regions, perSecond, random = Math.random }: VisitorOptions,
  signal: AbortSignal,
): Promise<VisitCounts> {
  const counts: VisitCounts = { counted: 0, refused: 0 };
  const visiting = new Set<Promise<void>>();
  while (await setTimeout(1000 / perSecond, true, { signal }).catch(() => false)) {
    if (visiting.size >= mostAtOnce) continue;
    const region = regions[Math.floor(random() * regions.length)] ?? defaultRegion;
    const visited = visitOnce(edge, { region, random, signal }).then(
      (isCounted) => void (isCounted ? counts.counted++ : counts.refused++),
      () => void counts.refused++,
    );
    visiting.add(visited);
    void visited.then(() => visiting.delete(visited));
  }
  await Promise.all(visiting);
  return counts;
}

async function visitOnce(
  edge: string,
  { region, random, signal }: { region: string; random: Random; signal: AbortSignal },
): Promise<boolean> {
  const headers = visitorHeaders(random); // also for the list: else all visits count as one visitor's misses
  const list = await fetch(`${edge}/api/trending?region=${region}`, { headers, signal });
  if (!list.ok) return false;
  const page = (await list.json()) as TrendingPage;
  // As navigator.sendBeacon() sends it: text, without a preflight.
  const body = JSON.stringify(visit(page, { random, now: Date.now() }));
  const answer = await fetch(`${edge}/api/views`, { method: "POST", body, headers, signal });
  return answer.status === 204;
}
