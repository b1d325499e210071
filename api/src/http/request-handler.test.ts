import { afterEach, beforeEach, expect, test } from "bun:test";
import { verifyToken } from "@trendvault/contract/token";
import { DatabaseBuilder, videos } from "../../test-support/database-builder.ts";
import { openTestOrigin, type TestOrigin, testMinute } from "../../test-support/test-origin.ts";

let builder: DatabaseBuilder;
let close: () => void = () => {};

beforeEach(() => {
  builder = new DatabaseBuilder();
});
afterEach(() => {
  close();
  builder.remove();
});

async function open(): Promise<TestOrigin> {
  const origin = await openTestOrigin(builder.path);
  close = () => origin.watcher.close();
  return origin;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into JSON of any shape
async function json(response: Response): Promise<any> {
  return response.json();
}

test("the default page is the first 24 of GB's day list", async () => {
  builder.publish([{ region: "GB", videos: videos(30) }]);
  const body = await json(await (await open()).ask("/api/trending"));
  expect(body).toMatchObject({
    region: "GB",
    window: "day",
    category: null,
    generation: 1,
    count: 24,
    total: 30,
  });
  expect(body.generated_at).toBe("2026-11-20T10:40:00Z");
  expect(body.newest_observed_at).toBe("2026-11-20T10:39:00Z");
  expect(body.channel_limit).toEqual({ videos: 3, within_ranks: 24 });
  expect(body.items.map((item: { rank: number }) => item.rank)).toEqual(
    Array.from({ length: 24 }, (_, i) => i + 1),
  );
  expect(body.items[0]).toEqual({
    id: "video1",
    rank: 1,
    previous_rank: null,
    title: "Title of video1",
    channel: "Channel of video1",
    category: null,
    published_at: "2026-11-19T10:40:00Z",
    score: 30001.2,
    velocity: { views_per_hour: 1250.1, previous_views_per_hour: 625, views: 5000 },
    thumbs: ["https://thumbs.example/video1/hq.webp", "https://thumbs.example/video1/sd.webp"],
    url: null,
  });
});

test("region, window and category each choose another list", async () => {
  builder.publish([
    { region: "GB", videos: videos(1, "gb-day") },
    { region: "DE", videos: videos(1, "de-day") },
    { region: "DE", window: "now", videos: videos(1, "de-now") },
    { region: "DE", category: "Film & Animation", videos: videos(1, "de-film") },
  ]);
  const origin = await open();
  const first = async (target: string) => (await json(await origin.ask(target))).items[0].id;
  expect(await first("/api/trending?region=de")).toBe("de-day1");
  expect(await first("/api/trending?region=DE&window=now")).toBe("de-now1");
  expect(await first("/api/trending?region=DE&category=Film+%26+Animation")).toBe("de-film1");
  expect(await first("/api/trending")).toBe("gb-day1");
});

test("the token verifies and names what was served", async () => {
  builder.publish([{ region: "DE", videos: videos(7) }]);
  const origin = await open();
  const { token } = await json(await origin.ask("/api/trending?region=DE"));
  const keys = await json(await origin.ask("/.well-known/jwks.json"));
  const issuedAt = testMinute * 60;
  expect(await verifyToken(token, keys, { now: issuedAt })).toEqual({
    verdict: "valid",
    claims: {
      issuedAt,
      expiresAt: issuedAt + 900,
      list: { region: "DE", window: "day", category: "", generation: 1, offset: 0, count: 7 },
    },
  });
});

test("pages follow `next` to the end of one generation while newer ones are published", async () => {
  builder.publish([{ region: "DE", videos: videos(120, "old") }]);
  const origin = await open();
  const seen: string[] = [];
  let target: string | null = "/api/trending?region=DE&limit=50";
  while (target !== null) {
    const response = await origin.ask(target);
    const body = await json(response);
    seen.push(...body.items.map((item: { id: string }) => item.id));
    expect(response.headers.get("link")).toBe(body.next === null ? null : `<${body.next}>; rel="next"`);
    target = body.next;
    builder.publish([{ region: "DE", videos: videos(120, `new${seen.length}-`) }]);
    origin.pass();
  }
  expect(seen).toEqual(videos(120, "old").map(({ id }) => id));
});

test("a cursor from a pruned generation is answered with 410 and where to start again", async () => {
  const old = builder.publish([{ region: "DE", videos: videos(30) }]);
  builder.publish([{ region: "DE", videos: videos(30) }]);
  const origin = await open();
  const { next } = await json(await origin.ask(`/api/trending?region=DE&window=day&cursor=${old}-24`));
  expect(next).toBeNull();
  builder.prune(old);
  builder.publish([]);
  origin.pass();
  const response = await origin.ask(`/api/trending?region=DE&limit=5&cursor=${old}-25`);
  expect(response.status).toBe(410);
  expect(await json(response)).toMatchObject({
    type: "/problems/generation-gone",
    restart: "/api/trending?region=DE&limit=5",
  });
});

test("a region without videos has an empty list that says so", async () => {
  builder.publish([{ region: "GB", videos: videos(1) }]);
  const body = await json(await (await open()).ask("/api/trending?region=PT"));
  expect(body).toMatchObject({ count: 0, total: 0, items: [], next: null, newest_observed_at: null });
});

test("an unknown category is refused with the categories there are", async () => {
  builder.publish([{ region: "DE", category: "Music", videos: videos(1) }]);
  const response = await (await open()).ask("/api/trending?category=Sport");
  expect(response.status).toBe(400);
  expect((await json(response)).invalid).toEqual([{ name: "category", detail: "expected one of Music" }]);
});

test("a cursor goes on in a category that is gone since; in one that never was there is no page", async () => {
  builder.publish([{ region: "GB", category: "Music", videos: videos(2) }]);
  builder.publish([{ region: "GB", videos: videos(2) }]);
  const { ask } = await open();
  const page = "/api/trending?limit=1&cursor=1-1";
  expect(await json(await ask(`${page}&category=Music`))).toMatchObject({ count: 1 });
  expect((await ask(`${page}&category=Nonsense`)).status).toBe(404);
  expect((await ask("/api/trending?limit=1&cursor=2-1&category=Nonsense")).status).toBe(400);
});

test("a second question mark belongs to a parameter's name, which is unknown then", async () => {
  builder.publish([]);
  expect((await (await open()).ask("/api/trending??region=DE")).status).toBe(400);
});

test("a bad parameter is a problem document that names what is allowed and quotes nothing", async () => {
  builder.publish([]);
  const response = await (await open()).ask("/api/trending?limit=9999&secret=hunter2");
  expect(response.status).toBe(400);
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  expect(response.headers.get("cache-control")).toBe("no-store");
  const text = await response.text();
  expect(text).toContain("expected a whole number from 1 to 50");
  expect(text).not.toContain("hunter2");
  expect(text).not.toContain("secret");
});

test("before the first generation the answer is 503 with Retry-After", async () => {
  const response = await (await open()).ask("/api/trending");
  expect(response.status).toBe(503);
  expect(response.headers.get("retry-after")).toBe("5");
});

test("an unchanged page is 304 for its entity tag, and says what renews a stored answer", async () => {
  builder.publish([{ region: "GB", videos: videos(3) }]);
  const origin = await open();
  const page = await origin.ask("/api/trending");
  const etag = page.headers.get("etag") ?? "";
  expect(etag).toMatch(/^"[A-Za-z0-9_-]{22}"$/);
  const again = await origin.ask("/api/trending", { headers: { "if-none-match": `"other", W/${etag}` } });
  expect(again.status).toBe(304);
  expect(await again.text()).toBe("");
  const forScripts = ["access-control-allow-origin", "access-control-expose-headers", "timing-allow-origin"];
  const lifetimes = ["cache-control", "cdn-cache-control", "trendvault-cache-control"];
  const renewed = [...forScripts, ...lifetimes, "content-location", "etag", "vary"].sort();
  expect([...again.headers.keys()].sort()).toEqual(renewed);
  for (const name of renewed) expect(again.headers.get(name)).toBe(page.headers.get(name));
  expect((await origin.ask("/api/trending", { headers: { "if-none-match": '"other"' } })).status).toBe(200);
});

test("browsers and shared caches each get their lifetime", async () => {
  builder.publish([]);
  const { headers } = await (await open()).ask("/api/trending");
  expect(headers.get("cache-control")).toBe("public, max-age=30, stale-while-revalidate=60");
  expect(headers.get("cdn-cache-control")).toBe(
    "public, max-age=120, stale-while-revalidate=600, stale-if-error=86400",
  );
  expect(headers.get("vary")).toBe("Accept-Encoding");
});

test("the same query in the same minute is the same bytes; the next minute signs anew", async () => {
  builder.publish([{ region: "GB", videos: videos(3) }]);
  const origin = await open();
  const first = await (await origin.ask("/api/trending")).text();
  expect(await (await origin.ask("/api/trending?limit=24&region=gb")).text()).toBe(first);
  origin.pass(60_000);
  expect(await (await origin.ask("/api/trending")).text()).not.toBe(first);
});

test("other methods are refused with Allow, unknown paths are 404", async () => {
  builder.publish([]);
  const origin = await open();
  const refused = await origin.ask("/api/trending", { method: "POST", body: "{}" });
  expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
  expect((await origin.ask("/api/trending/")).status).toBe(404);
  expect((await origin.ask("/api/trending", { method: "OPTIONS" })).status).toBe(204);
});
