import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { TrendingPage } from "@trendvault/contract/responses";
import { drawsOf, Random } from "@trendvault/kit/random";
import { type Counts, LoopParts } from "./test-support/loop-parts.ts";
import { type Visit, visit, visitorHeaders } from "./visitors.ts";

// From visitors to the list, with real parts: the origin, the edge in workerd with its counters, the writer.
setDefaultTimeout(1_800_000); // a minute has to close, on a busy machine

const random = new Random();
const regions = ["GB", "DE", "FR"] as const;
const visitors = drawsOf({ usual: 2000, long: 10_000 });
const concurrency = 256; // a message waits up to a second for others
const writerKills = 10;
const edgeKills = 2;
const killed = 128 + 9; // the exit code of a process that SIGKILL ended

let parts: LoopParts;
beforeAll(async () => {
  parts = await LoopParts.start(regions.flatMap((region) => describeVideos(region, 40)));
});
afterAll(() => parts.stop());

/** What is known of the messages: what was acknowledged is counted, what has no answer may be. */
const acknowledged: Counts = new Map();
const unanswered: Counts = new Map();
/** `refused` by an edge whose counters did not answer in time. */
const messages = { sent: 0, acknowledged: 0, refused: 0, unanswered: 0 };

test(`what ${visitors} visitors did is stored as it was acknowledged, whatever is killed (seed ${random.seed})`, async () => {
  const pages = await Promise.all(regions.map(fetchPage));
  await Promise.all([sendVisits(pages), killWriters()]);
  expect(messages.sent).toBe(visitors);
  expect(messages.acknowledged + messages.refused + messages.unanswered).toBe(visitors);
  expect(messages.unanswered).toBeLessThanOrEqual(edgeKills * concurrency);
  await pullUntilStored();
  const stored = parts.storedCounts();
  for (const key of new Set([...acknowledged.keys(), ...stored.keys()])) {
    const [told, maybe] = [countsOf(acknowledged, key), countsOf(unanswered, key)];
    const { impressions, clicks } = countsOf(stored, key);
    expect(impressions).toBeWithin(told.impressions, told.impressions + maybe.impressions + 1);
    expect(clicks).toBeWithin(told.clicks, told.clicks + maybe.clicks + 1);
  }
  expect(total(acknowledged).impressions).toBeGreaterThan(messages.acknowledged);
});

async function fetchPage(region: string): Promise<TrendingPage> {
  const answer = await fetch(`${parts.edgeUrl}/api/trending?region=${region}`);
  return (await answer.json()) as TrendingPage;
}

/** Sends all visits. At two drawn ones the edge is killed while others are on their way, and started again. */
async function sendVisits(pages: TrendingPage[]): Promise<void> {
  const killAt = new Set<number>();
  while (killAt.size < edgeKills) killAt.add(1 + random.below(visitors - 1));
  let restarting = Promise.resolve();
  const sendOne = async () => {
    while (messages.sent < visitors) {
      await restarting;
      if (killAt.delete(messages.sent)) {
        restarting = restartEdge();
        continue;
      }
      if (messages.sent === visitors) return;
      messages.sent++;
      const page = random.pick(pages);
      await send(visit(page, { random: () => random.next(), now: Date.now() }), page);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, sendOne));
}

async function restartEdge(): Promise<void> {
  await parts.kill("edge");
  await parts.run("edge");
}

async function send(message: Visit, page: TrendingPage): Promise<void> {
  const answer = await fetch(`${parts.edgeUrl}/api/views`, {
    method: "POST",
    body: JSON.stringify(message),
    headers: visitorHeaders(() => random.next()),
  }).catch(
    () => null, // the edge was killed: it may have counted this one
  );
  if (answer?.status === 204) {
    messages.acknowledged++;
    add(acknowledged, message, page);
  } else if (answer === null || answer.status >= 500) {
    messages[answer === null ? "unanswered" : "refused"]++;
    add(unanswered, message, page);
  } else throw new Error(`${answer.status}: ${await answer.text()}`);
}

function add(counts: Counts, { seen, opened }: Visit, page: TrendingPage): void {
  for (const { rank, id } of page.items) {
    const key = `${page.region} ${id}`;
    const { impressions, clicks } = countsOf(counts, key);
    counts.set(key, {
      impressions: impressions + (rank <= seen ? 1 : 0),
      clicks: clicks + (opened.includes(rank) ? 1 : 0),
    });
  }
}

function countsOf(counts: Counts, key: string): { impressions: number; clicks: number } {
  return counts.get(key) ?? { impressions: 0, clicks: 0 };
}

function total(counts: Counts): { impressions: number; clicks: number } {
  const all = [...counts.values()];
  const sum = (numbers: number[]) => numbers.reduce((left, right) => left + right, 0);
  return {
    impressions: sum(all.map(({ impressions }) => impressions)),
    clicks: sum(all.map(({ clicks }) => clicks)),
  };
}

/** A run that ends before its time is not killed, and is drawn anew. */
async function killWriters(): Promise<void> {
  for (let kills = 0; kills < writerKills; )
    if ((await parts.runWriter(["cron"], 50 + random.below(900))) === killed) kills++;
}

/** The last minute closes within two; then everything that was acknowledged can be pulled. */
async function pullUntilStored(): Promise<void> {
  const wanted = total(acknowledged).impressions;
  while (total(parts.storedCounts()).impressions < wanted) {
    await parts.runWriter(["cron"]);
    await Bun.sleep(1000);
  }
  await parts.runWriter(["cron"]);
}

/** What was pulled counts when the next minute is pulled, too. */
async function pullUntilSettled(): Promise<void> {
  const open = "SELECT count(*) AS regions FROM pull_regions WHERE settled_clicks + late_clicks < clicks";
  while (parts.query<{ regions: number }>(open)[0]?.regions !== 0) {
    await parts.runWriter(["cron"]);
    await Bun.sleep(1000);
  }
}

/** Videos with the same views, so that only what visitors do can move them. */
function describeVideos(region: string, count: number): object[] {
  const now = Date.now();
  return Array.from({ length: count }, (_, index) => index).flatMap((index) =>
    [2, 1].map((hoursAgo) => ({
      id: `${region}-${index}`,
      region,
      observed_at: new Date(now - hoursAgo * 3_600_000).toISOString(),
      published_at: new Date(now - 30 * 3_600_000).toISOString(),
      views: (10 - hoursAgo) * 1000 - index,
      title: `Video ${index}`,
      channel: `Channel ${index}`,
      thumb_base: `https://thumbs.example/${index}`,
    })),
  );
}

test("a video that is opened more per impression climbs", async () => {
  const before = await fetchPage("GB");
  const last = before.items.at(-1);
  if (last === undefined) throw new Error("no list");
  // Impressions count up to three times the lists that were served.
  await Promise.all(Array.from({ length: concurrency }, () => fetchPage("GB")));
  const message = { token: before.token, seen: last.rank, opened: [last.rank] };
  await Promise.all(Array.from({ length: 2 * concurrency }, () => send(message, before)));
  await pullUntilStored();
  await pullUntilSettled();
  const after = await fetchRanked("GB");
  const rank = after.items.find(({ id }) => id === last.id)?.rank ?? Number.POSITIVE_INFINITY;
  expect(rank).toBeLessThan(last.rank);
});

/** Ranks, and gives a page of that generation, which is asked for with a limit that no cache knows. */
async function fetchRanked(region: string): Promise<TrendingPage> {
  await parts.runWriter(["rank"]);
  const newest = "SELECT max(id) AS id FROM generations";
  const generation = parts.query<{ id: number }>(newest)[0]?.id ?? 0;
  for (let limit = 40; ; limit--) {
    const answer = await fetch(`${parts.edgeUrl}/api/trending?region=${region}&limit=${limit}`);
    const page = (await answer.json()) as TrendingPage;
    if (page.generation >= generation) return page;
    await Bun.sleep(500);
  }
}
