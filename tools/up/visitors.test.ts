import { expect, test } from "bun:test";
import { examples } from "@trendvault/contract/examples";
import { readViewMessage } from "@trendvault/contract/views";
import { Random } from "@trendvault/kit/random";
import { runVisitors, visit } from "./visitors.ts";

const random = new Random();
const next = () => random.next();
const now = Date.parse("2026-11-21T12:00:00Z");
const [item] = examples.trendingPage.items;
if (item === undefined) throw new Error("the example has an item");

function pageOf(count: number, offset = 0) {
  const items = Array.from({ length: count }, (_, index) => ({
    ...item,
    id: `video${offset + index}`,
    rank: offset + index + 1,
  }));
  return { ...examples.trendingPage, items: items as typeof examples.trendingPage.items };
}

test(`a visitor tells ranks of the page only, and opens what was seen (seed ${random.seed})`, () => {
  for (let round = 0; round < 2000; round++) {
    const offset = 24 * random.below(3);
    const { seen, opened } = visit(pageOf(1 + random.below(24), offset), { random: next, now });
    expect(seen).toBeGreaterThan(offset);
    expect(seen).toBeLessThanOrEqual(offset + 24);
    for (const rank of opened) expect(rank > offset && rank <= seen).toBe(true);
    expect(new Set(opened).size).toBe(opened.length);
  }
});

test(`all see the first rank, and fewer at every further one (seed ${random.seed})`, () => {
  const impressions = new Array<number>(24).fill(0);
  for (let round = 0; round < 4000; round++) {
    const { seen } = visit(pageOf(24), { random: next, now });
    for (let rank = 1; rank <= seen; rank++) impressions[rank - 1] = (impressions[rank - 1] ?? 0) + 1;
  }
  expect(impressions[0]).toBe(4000);
  for (let rank = 1; rank < 24; rank++)
    expect(impressions[rank]).toBeLessThanOrEqual(impressions[rank - 1] ?? 0);
  expect((impressions[9] ?? 0) / 4000).toBeWithin(0.09, 0.17); // 10^-0.9 is 0.126
});

test("visitors like what the counts like, and what nobody counts less when it is older", () => {
  const at = (id: string, views_per_hour: number, hours = 0) =>
    chanceOf({
      ...{ ...item, id, published_at: new Date(now - hours * 3_600_000).toISOString() },
      velocity: { views: views_per_hour === 0 ? 0 : 1000, views_per_hour, previous_views_per_hour: null },
    });
  for (let number = 0; number < 100; number++) {
    expect(at(`video${number}`, 60_000)).toBeGreaterThan(at(`video${number + 1}`, 3000));
    expect(at(`video${number}`, 3000)).toBeGreaterThan(at(`video${number + 1}`, 100));
  }
  expect(at("video1", 0, 7)).toBeCloseTo(at("video1", 0) / 2);
  expect(at("video1", 0)).not.toBe(at("video2", 0));
});

/** The chance that a visitor who sees a video opens it: the largest draw with which one does, by bisection. */
function chanceOf(video: typeof item & object): number {
  const page = { ...examples.trendingPage, items: [video] as typeof examples.trendingPage.items };
  let [opening, passing] = [0, 1];
  for (let step = 0; step < 40; step++) {
    const middle = (opening + passing) / 2;
    if (visit(page, { random: () => middle, now }).opened.length > 0) opening = middle;
    else passing = middle;
  }
  return opening;
}

test("a page without videos is visited without an error", () => {
  expect(visit(pageOf(0), { random: next, now })).toMatchObject({ opened: [] });
});

test("visitors do not wait for each other's acknowledgement, and are counted once all have theirs", async () => {
  const acknowledge = Promise.withResolvers<void>();
  const stop = new AbortController();
  let messages = 0;
  const edge = Bun.serve({
    port: 0,
    routes: { "/api/trending": () => Response.json(examples.trendingPage) },
    async fetch(request) {
      if (typeof readViewMessage(await request.text()) === "string")
        return new Response(null, { status: 400 });
      const number = ++messages;
      if (number === 10) acknowledge.resolve();
      await acknowledge.promise;
      return new Response(null, { status: number % 5 === 0 ? 503 : 204 });
    },
  });
  const options = { edge: edge.url.href.slice(0, -1), regions: ["DE"], perSecond: 500 };
  const running = runVisitors(options, stop.signal);
  await acknowledge.promise;
  while (messages < 30) await Bun.sleep(1);
  stop.abort();
  const { counted, refused } = await running;
  await edge.stop(true);
  expect(counted).toBeGreaterThan(0);
  expect(refused).toBeGreaterThan(0);
});

test("a visitor asks for the list and tells of it from one address, other visitors from others", async () => {
  const stop = new AbortController();
  const addresses = { asked: new Set<string | null>(), told: new Set<string | null>() };
  const edge = Bun.serve({
    port: 0,
    fetch(request) {
      const isMessage = request.method === "POST";
      addresses[isMessage ? "told" : "asked"].add(request.headers.get("cf-connecting-ip"));
      if (addresses.told.size === 5) stop.abort();
      return isMessage ? new Response(null, { status: 204 }) : Response.json(examples.trendingPage);
    },
  });
  await runVisitors({ edge: edge.url.href.slice(0, -1), regions: ["DE"], perSecond: 500 }, stop.signal);
  await edge.stop(true);
  expect(addresses.told.size).toBeGreaterThanOrEqual(5);
  expect(addresses.asked.has(null)).toBe(false);
  expect(addresses.told.isSubsetOf(addresses.asked)).toBe(true);
});
