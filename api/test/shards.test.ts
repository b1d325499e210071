import { afterEach, beforeEach, expect, test } from "bun:test";
import { DatabaseBuilder, type ListSeed, videos } from "@trendvault/kit/database";
import { until } from "@trendvault/kit/machine";
import { openTestOrigin, type TestOrigin } from "@trendvault/kit/origin";

// Two writers share the regions, as in a database that bin/follow has joined: one has GB and IE, one DE and FR.
const british = ["GB", "IE"];
const german = ["DE", "FR"];
const now = 1_795_171_200;

let builder: DatabaseBuilder;
let origin: TestOrigin;

beforeEach(async () => {
  builder = new DatabaseBuilder();
  publishBritish(256);
  publishGerman(70_001);
  origin = await openTestOrigin(builder.path);
});
afterEach(() => {
  origin.watcher.close();
  builder.remove();
});

function listsOf(codes: string[], category: string): ListSeed[] {
  const own = [{ id: "shared", title: "In all" }, ...videos(29, codes[0])];
  return codes.flatMap((region) => [
    { region, videos: own },
    { region, window: "now" as const, category, videos: own.slice(0, 2) },
  ]);
}

function publishBritish(id: number, publishedAt = now): void {
  builder.publishRegions(listsOf(british, "Music"), { codes: british, id, publishedAt });
}

function publishGerman(id: number, publishedAt = now - 600): void {
  builder.publishRegions(listsOf(german, "Musik"), { codes: german, id, publishedAt });
}

// biome-ignore lint/suspicious/noExplicitAny: what is read of it is compared
async function read(target: string): Promise<any> {
  return (await origin.ask(target)).json();
}

async function served(region: string): Promise<number> {
  return (await read(`/api/trending?region=${region}`)).generation;
}

async function follow(region: string, id: number): Promise<void> {
  await until(async () => {
    origin.pass(20);
    return (await served(region)) === id;
  });
}

test("every list, feed, page and explanation is of its region's own generation", async () => {
  for (const [region, generation, generated_at, category] of [
    ["GB", 256, "2026-11-20T10:40:00Z", "Music"],
    ["IE", 256, "2026-11-20T10:40:00Z", "Music"],
    ["DE", 70_001, "2026-11-20T10:30:00Z", "Musik"],
    ["FR", 70_001, "2026-11-20T10:30:00Z", "Musik"],
  ] as const) {
    const list = await read(`/api/trending?region=${region}`);
    expect(list).toMatchObject({ generation, generated_at, count: 24, total: 30 });
    expect(list.next).toBe(`/api/trending?region=${region}&cursor=${generation}-24`);
    expect(await read(list.next)).toMatchObject({ generation, generated_at, count: 6, next: null });
    expect(await read(`/api/trending?region=${region}&window=now&category=${category}`)).toMatchObject({
      generation,
      count: 2,
    });
    expect(await read(`/feeds/${region}.json`)).toMatchObject({ _trendvault: { generation, generated_at } });
    expect(await read(`/api/videos/shared/explain?region=${region}`)).toMatchObject({
      generation,
      generated_at,
    });
    const page = await (await origin.ask(`/?region=${region}`)).text();
    expect(page).toContain(generated_at);
    const { payload } = decodeToken(list.token);
    expect(payload).toContain(`${generation}`);
  }
});

test("a category of any region is one: where it has no list, the list is empty", async () => {
  expect(await read("/api/trending?region=GB&category=Musik")).toMatchObject({ total: 0, items: [] });
  const refused = await origin.ask("/api/trending?region=GB&category=None");
  expect([refused.status, ((await refused.json()) as { detail: string }).detail]).toEqual([
    400,
    "category: expected one of Music, Musik",
  ]);
});

test("the regions say which generation each has, and the one that was published last stands for all", async () => {
  const { regions, ...all } = await read("/api/regions");
  expect(all).toEqual({
    generation: 256,
    oldest_generation: 256,
    generated_at: "2026-11-20T10:40:00Z",
    categories: ["Music", "Musik"],
  });
  const byCode = Object.fromEntries(regions.map((region: { code: string }) => [region.code, region]));
  expect(byCode.IE).toMatchObject({
    generation: 256,
    oldest_generation: 256,
    generated_at: "2026-11-20T10:40:00Z",
  });
  expect(byCode.FR).toMatchObject({
    generation: 70_001,
    oldest_generation: 70_001,
    generated_at: "2026-11-20T10:30:00Z",
  });
  expect(byCode.ES).toMatchObject({
    video_count: 0,
    generation: null,
    oldest_generation: null,
    generated_at: null,
  });
});

test("a video has its ranks in the newest generation of each region, in the order of one writer's", async () => {
  publishGerman(70_257);
  await follow("DE", 70_257);
  builder.publishRegions([{ region: "DE", videos: videos(3) }], { codes: ["DE"], id: 70_258 }); // another writer's now
  await follow("DE", 70_258);
  const video = await read("/api/videos/shared");
  const places = video.trending.map(
    ({ region, window, category }: Record<string, string>) => `${region} ${window} ${category}`,
  );
  expect(places).toEqual([
    "FR day null",
    "FR now Musik",
    "GB day null",
    "GB now Music",
    "IE day null",
    "IE now Music",
  ]);
});

test("how the lists are made is said for all writers together", async () => {
  builder.database.run(
    `UPDATE generations SET sources = '[{"kind":"ndjson","host":null}]', removed_videos = 2, explore_share = 0.25,
     formula = 'test-1+clicks' WHERE id = 256`,
  );
  builder.database.run(
    `UPDATE generations SET sources = '[{"kind":"edge","host":"e.example"},{"kind":"ndjson","host":null}]',
     looks_counted = 1, removed_videos = 5 WHERE id = 70001`,
  );
  expect(await read("/api/about")).toMatchObject({
    generation: 256,
    formula: "test-1+clicks, test-1",
    sources: [
      { kind: "ndjson", host: null },
      { kind: "edge", host: "e.example" },
    ],
    explore_share: 0.25,
    removed_videos: 5,
    impressions_counted: true,
  });
  const sendsViews = async (region: string) =>
    (await (await origin.ask(`/?region=${region}`)).text()).search(/<trendvault-list [^>]*views[ =>]/) > 0;
  expect([await sendsViews("DE"), await sendsViews("GB")]).toEqual([true, false]);
});

test("a cursor of one writer holds while the other publishes and deletes generations", async () => {
  const { next } = await read("/api/trending?region=DE");
  const before = await (await origin.ask(next)).text();
  for (let id = 512; id < 512 + 256 * 20; id += 256) {
    publishBritish(id, now + id);
    builder.prune(id - 256);
  }
  await follow("GB", 512 + 256 * 19);
  expect(await (await origin.ask(next)).text()).toBe(before);
  expect((await origin.ask("/api/trending?region=GB&cursor=512-24")).status).toBe(410);
});

test("a cursor of a deleted generation is gone, one of a number that never was is a signed 404", async () => {
  publishBritish(1024);
  await follow("GB", 1024);
  const answers = await Promise.all(
    [255, 256, 257, 1023, 1024, 1025, 70_001].map(async (id) => {
      const response = await origin.ask(`/api/trending?region=GB&cursor=${id}-24`);
      return [id, response.status, response.headers.has("signature")];
    }),
  );
  expect(answers).toEqual([
    [255, 410, false],
    [256, 200, true],
    [257, 404, true],
    [1023, 404, true],
    [1024, 200, true],
    [1025, 410, false],
    [70_001, 410, false],
  ]);
});

test("a region that nobody has published is not found, without a signature that an edge would store", async () => {
  for (const target of [
    "/api/trending?region=ES",
    "/feeds/ES.atom",
    "/api/export/ES.ndjson",
    "/?region=ES",
    "/api/videos/shared/explain?region=ES",
  ]) {
    const response = await origin.ask(target);
    expect([target, response.status, response.headers.has("signature")]).toEqual([target, 404, false]);
    expect(response.headers.get("cache-control")).toBe("no-store");
  }
});

test("what is damaged of one writer does not keep the other one's lists from being served", async () => {
  builder.database.transaction(() => {
    publishGerman(70_257, now + 60);
    builder.database.run("DELETE FROM trending WHERE generation = 70257 AND rank = 7");
  })();
  publishBritish(512, now + 60);
  await follow("GB", 512);
  expect(await served("DE")).toBe(70_001);
  expect(origin.origin.degradedReason).toContain("Generation 70257 is damaged");
  publishBritish(768, now + 120);
  await follow("GB", 768);
  expect(await served("FR")).toBe(70_001);
  publishGerman(70_513, now + 180);
  await follow("DE", 70_513);
  await until(() => {
    origin.pass(500);
    return origin.origin.degradedReason === null;
  });
  expect(await served("GB")).toBe(768);
});

function decodeToken(token: string): { payload: string } {
  return { payload: Buffer.from(token.split(".")[1] ?? "", "base64url").toString() };
}
