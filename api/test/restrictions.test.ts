import { afterEach, beforeEach, expect, test } from "bun:test";
import { explanationUrl } from "@trendvault/contract/queries";
import { DatabaseBuilder } from "@trendvault/kit/database";
import { until } from "@trendvault/kit/machine";
import { openTestOrigin, type TestOrigin, testTime } from "@trendvault/kit/origin";
import { drawsOf, Random, testSeed } from "@trendvault/kit/random";

const random = new Random();
const ids = Array.from({ length: 24 }, (_, index) => `clip-${String(index).padStart(2, "0")}`);
const listed = ids.map((id) => ({ id }));
const targets = [
  "/api/trending?region=GB&limit=50",
  "/api/trending?region=GB&limit=50&fields=snippet",
  "/api/trending?region=GB&limit=10&cursor=1-10",
  "/?region=GB&limit=50",
  "/feeds/GB.atom",
  "/api/export/GB.ndjson?window=day",
  ...ids.map((id) => `/api/videos/${id}`),
  ...ids.map((id) => explanationUrl(id, { region: "GB", window: "day" })),
];

let builder: DatabaseBuilder;
let origin: TestOrigin;
let now: number; // Unix seconds

beforeEach(async () => {
  now = Math.floor(testTime / 1000);
  builder = new DatabaseBuilder();
  const lists = [
    { region: "GB", videos: listed },
    { region: "GB", category: "#language:live=now", videos: listed },
  ];
  for (let generation = 0; generation < 2; generation++) builder.publish(lists);
});
afterEach(() => {
  origin.watcher.close();
  builder.remove();
});

type Restriction = { from: number | null; end: number | null; reason: string | null };

/** Stores drawn restrictions, and opens an origin. No time begins while the test lasts: the writer lists a video from then on. */
async function restrict(): Promise<Map<string, Restriction>> {
  const restrictions = new Map<string, Restriction>();
  for (const id of ids) {
    const from = random.pick([null, null, now - random.below(100), now + 100_000]);
    const end = random.pick([
      null,
      now - random.below(3),
      now + 1 + random.below(40),
      now + random.below(100_000),
    ]);
    const reason = random.pick([null, null, null, null, "mature"]);
    restrictions.set(id, { from, end, reason });
    const values = [from, end, reason, id];
    builder.database.run(
      "UPDATE videos SET available_from = ?, available_until = ?, held_because = ? WHERE id = ?",
      values,
    );
  }
  origin = await openTestOrigin(builder.path);
  return restrictions;
}

/** Moves the clock, and waits until the origin has seen it. Nobody writes meanwhile. */
async function pass(seconds: number): Promise<void> {
  now += seconds;
  origin.pass(seconds * 1000);
  await until(() => {
    origin.pass(0);
    return (origin.cache.snapshot?.generation.endsAt ?? 0) > now;
  });
}

function isShown({ from, end, reason }: Restriction): boolean {
  return reason === null && (from ?? now) <= now && (end ?? Infinity) > now;
}

test(`a video is in nothing before its time, after it, and while it is held back (seed ${testSeed})`, async () => {
  const restrictions = await restrict();
  for (let draw = 0; draw < drawsOf({ usual: 12, long: 200 }); draw++) {
    await pass(random.below(5));
    const shown = ids.filter((id) => isShown(restrictions.get(id) as Restriction));
    for (const target of targets) {
      const response = await origin.ask(target);
      const text = await response.text();
      const named = ids.filter((id) => response.status === 200 && text.includes(id));
      const isAbout = (id: string) =>
        target.includes("clip")
          ? target.includes(id)
          : !target.includes("cursor") || (ids.indexOf(id) >= 10 && ids.indexOf(id) < 20);
      expect([target, now, named]).toEqual([target, now, shown.filter(isAbout)]);
    }
  }
});

test("where a clock was set back, what had ended before the newest generation is not shown again", async () => {
  const ends = new Map(ids.map((id) => [id, random.pick([null, now - 1 - random.below(50_000), now + 100])]));
  for (const [id, end] of ends)
    builder.database.run("UPDATE videos SET available_until = ? WHERE id = ?", [end, id]);
  const publishedAt = now;
  origin = await openTestOrigin(builder.path);
  await pass(-86_400);
  builder.publish([{ region: "GB", videos: listed }], publishedAt);
  await until(() => {
    origin.pass(0);
    return origin.cache.snapshot?.generation.id === 3;
  });
  const text = await (await origin.ask("/api/trending?region=GB&limit=50")).text();
  const isOver = (id: string) => (ends.get(id) ?? Infinity) <= publishedAt;
  expect(ids.filter((id) => !text.includes(id))).toEqual(ids.filter(isOver));
  for (const id of ids) expect((await origin.ask(`/api/videos/${id}`)).status).toBe(isOver(id) ? 404 : 200);
});

/** Seconds from `max-age` on, stale ones included. */
function longestUse(field: string | null): number {
  const seconds = (name: string) => Number(new RegExp(`${name}=(\\d+)`).exec(field ?? "")?.[1] ?? 0);
  return seconds("max-age") + Math.max(seconds("stale-while-revalidate"), seconds("stale-if-error"));
}

/** Unix seconds: how long an edge may use an answer that was signed some time ago. */
function usableUntil(headers: Headers): number {
  const signedAt = Number(/created=(\d+)/.exec(headers.get("signature-input") ?? "")?.[1]);
  return signedAt + longestUse(headers.get("trendvault-cache-control"));
}

test(`an answer may be used until the first of its videos or its pins ends, also when it is signed again (seed ${testSeed})`, async () => {
  const pinned = new Map(ids.map((id) => [id, random.pick([null, now + 1 + random.below(50_000)])]));
  for (const [id, end] of pinned) {
    const placed = end === null ? null : JSON.stringify({ placed_by: "editor", model_rank: 1 });
    builder.database.run("UPDATE trending SET placed = ?, placed_until = ? WHERE video_id = ?", [
      placed,
      end,
      id,
    ]);
  }
  const restrictions = await restrict();
  for (let draw = 0; draw < drawsOf({ usual: 8, long: 100 }); draw++) {
    await pass(random.pick([0, 1, 59, 299, 301, 3600, 40_000]));
    for (const target of targets) {
      const { status, headers, text } = await askFor(target);
      const named = ids.filter((id) => text.includes(id));
      const ends = named
        .flatMap((id) => [restrictions.get(id)?.end ?? Infinity, pinned.get(id) ?? Infinity])
        .filter((end) => end > now); // a pin that is over leaves the video's own page
      const left = Math.min(86_520, ...ends.map((end) => end - now));
      if (status !== 200) continue;
      const use = longestUse(headers.get("trendvault-cache-control"));
      expect([target, now, usableUntil(headers) <= now + left]).toEqual([target, now, true]);
      expect(longestUse(headers.get("cdn-cache-control"))).toBe(use);
      expect(longestUse(headers.get("cache-control"))).toBe(Math.min(90, use));
      const tag = headers.get("etag") ?? "";
      const again = await origin.ask(target, { headers: { "if-none-match": tag } });
      expect([again.status, longestUse(again.headers.get("cdn-cache-control"))]).toEqual([304, use]);
    }
  }
});

async function askFor(target: string) {
  const response = await origin.ask(target);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

test(`a video is live, and in the list of what is, until that ends, without a new generation (seed ${testSeed})`, async () => {
  const states = new Map<string, { live: string | null; end: number | null }>();
  for (const id of ids) {
    const live = random.pick([null, "now", "scheduled", "recorded"]);
    const end =
      live === null || live === "recorded" ? null : now + random.pick([-1, 0, 1, 2, 3 + random.below(60)]);
    states.set(id, { live, end });
    builder.database.run("UPDATE videos SET live = ?, live_until = ? WHERE id = ?", [live, end, id]);
  }
  origin = await openTestOrigin(builder.path);
  for (let draw = 0; draw < drawsOf({ usual: 8, long: 100 }); draw++) {
    await pass(random.below(8));
    const expected = (id: string) => {
      const { live, end } = states.get(id) ?? { live: null, end: null };
      return live !== null && (end ?? Infinity) > now ? live : undefined;
    };
    for (const fields of ["", "&fields=chart"]) {
      const { items } = (await (await origin.ask(`/api/trending?region=GB&limit=50${fields}`)).json()) as {
        items: { id: string; live?: string }[];
      };
      const inLists = ids.map((id) => [id, expected(id) === "recorded" ? undefined : expected(id)]);
      expect([now, items.map(({ id, live }) => [id, live])]).toEqual([now, inLists]);
      const target = `/api/trending?region=GB&window=day&limit=50&live=now${fields}`;
      const { headers, text } = await askFor(target);
      const named = (JSON.parse(text) as { items: { id: string }[] }).items.map(({ id }) => id);
      const live = ids.filter((id) => expected(id) === "now");
      expect([target, now, named]).toEqual([target, now, live]);
      const ends = live.map((id) => states.get(id)?.end ?? Infinity);
      expect(usableUntil(headers)).toBeLessThanOrEqual(Math.min(now + 86_520, ...ends));
    }
    const page = await (await origin.ask("/?region=GB")).text();
    const onAir = ids.filter((id) => expected(id) === "now").length;
    expect(page.split('class="duration live"').length - 1).toBe(onAir);
    const feed = await (await origin.ask("/feeds/GB.atom")).text();
    expect(feed.split("<trendvault:live>now<").length - 1).toBe(onAir);
    for (const id of ids) {
      const video = (await (await origin.ask(`/api/videos/${id}`)).json()) as { live?: string };
      expect([now, id, video.live]).toEqual([now, id, expected(id)]);
    }
  }
});

test("where a video may be played and that it is for kids is in what names it, and in no other item", async () => {
  const countries = { excluded: ["FR"] };
  builder.database.run("UPDATE videos SET countries = ? WHERE id = ?", [
    JSON.stringify(countries),
    ids[3] ?? "",
  ]);
  builder.database.run("UPDATE videos SET made_for_kids = 1 WHERE id = ?", [ids[4] ?? ""]);
  origin = await openTestOrigin(builder.path);
  type Named = { id: string; countries?: object; made_for_kids?: boolean };
  for (const fields of ["", "&fields=snippet", "&fields=chart"]) {
    const page = await origin.ask(`/api/trending?region=GB&limit=50${fields}`);
    const { items } = (await page.json()) as { items: Named[] };
    for (const item of items) {
      const expected = [item.id === ids[3] ? countries : undefined, item.id === ids[4] ? true : undefined];
      expect([item.id, item.countries, item.made_for_kids]).toEqual([item.id, ...expected]);
    }
  }
  const one = (await (await origin.ask(`/api/videos/${ids[3]}`)).json()) as Named;
  const other = (await (await origin.ask(`/api/videos/${ids[4]}`)).json()) as Named;
  expect([one.countries, "countries" in other]).toEqual([countries, false]);
  expect(["made_for_kids" in one, other.made_for_kids]).toEqual([false, true]);
});
