import { setTimeout } from "node:timers/promises";
import { defaultRegion } from "@trendvault/contract/regions";
import type { TrendingPage } from "@trendvault/contract/responses";

/** `edge` is its URL; `regions` are the codes of the regions that are visited. */
type VisitorOptions = {
  edge: string;
  regions: readonly string[];
  perSecond: number;
  random?: Random;
};

/** What simulated visitors were told: `counted` messages were acknowledged, `refused` were not. */
type VisitCounts = { counted: number; refused: number };

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

/** From 0 to below 1. */
type Random = () => number;

const lookSteepness = 0.9; // a visitor sees ranks as far as k with the chance 1/k^0.9
const largestChance = 0.4;
const halfOfLargest = 40_000; // views an hour
const tasteSigma = 0.3;
const meanAppeal = 0.04; // of what nobody counts
const ageHours = 7; // it falls as 7 / (age + 7 h)

type Item = TrendingPage["items"][number];

/**
 * What a browser tells of one visit (docs/http-api.md): a simulated visitor sees the first ranks of a page and opens what
 * appeals. `now` in Unix milliseconds.
 */
export function visit(page: TrendingPage, { random, now }: { random: Random; now: number }) {
  const [first, last] = [page.items[0]?.rank ?? 1, page.items.at(-1)?.rank ?? 0];
  const deepest = Math.floor(Math.max(random(), Number.EPSILON) ** (-1 / lookSteepness));
  const seen = Math.max(first, Math.min(last, first - 1 + deepest));
  const opened = page.items
    .filter((item) => item.rank <= seen && random() < chanceOf(item, now))
    .map(({ rank }) => rank);
  return { token: page.token, seen, opened };
}

/**
 * The fields of a simulated visitor's message: its type, as navigator.sendBeacon() sends it, and an address of the
 * visitor's own, of those for documentation (RFC 3849), since the edge limits each address.
 */
export function visitorHeaders(random: Random): Record<string, string> {
  const group = () => Math.floor(random() * 65_536).toString(16);
  return {
    "content-type": "text/plain;charset=UTF-8",
    "cf-connecting-ip": `2001:db8:${group()}:${group()}::1`,
  };
}

/**
 * The chance that somebody who sees a video opens it. Visitors like what the world of the counts likes: it rises with the
 * views an hour that are counted, with a taste of their own beside it. A video that nobody counts is drawn from its id
 * (lognormal, mean 4 %, sigma 1) and falls with age.
 */
function chanceOf({ id, published_at, velocity }: Item, now: number): number {
  const { views, views_per_hour: rate } = velocity;
  if (views > 0) {
    const taste = Math.exp(tasteSigma * normalOf(id) - tasteSigma ** 2 / 2);
    return Math.min(1, (largestChance * taste * rate) / (rate + halfOfLargest));
  }
  const born = published_at === null ? now : Date.parse(published_at);
  const age = Math.max(0, now - born) / 3_600_000;
  return Math.min(1, (meanAppeal * Math.exp(normalOf(id) - 0.5) * ageHours) / (age + ageHours));
}

// Box and Muller (1958), from two halves of a hash.
function normalOf(id: string): number {
  const hash = Bun.hash.wyhash(id);
  const [left, right] = [Number(hash >> 32n) + 1, Number(hash & 0xffff_ffffn)];
  return Math.sqrt(-2 * Math.log(left / 2 ** 32)) * Math.cos((2 * Math.PI * right) / 2 ** 32);
}
