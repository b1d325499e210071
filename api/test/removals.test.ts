import { afterEach, beforeEach, expect, test } from "bun:test";
import type { TrendingPage } from "@trendvault/contract/responses";
import { DatabaseBuilder, type VideoSeed, videos } from "@trendvault/kit/database";
import { until } from "@trendvault/kit/machine";
import { openTestOrigin, type TestOrigin } from "@trendvault/kit/origin";
import { drawsOf, Random } from "@trendvault/kit/random";

const random = new Random();
let builder: DatabaseBuilder;
let origin: TestOrigin;

const listed: VideoSeed[] = videos(60).map((video, index) => ({ ...video, channel: `Channel ${index % 7}` }));
const ids = listed.map(({ id }) => id);

beforeEach(async () => {
  builder = new DatabaseBuilder();
  for (let generation = 0; generation < 3; generation++) builder.publish([{ region: "GB", videos: listed }]);
  origin = await openTestOrigin(builder.path);
});

afterEach(() => builder.remove());

async function readPage(target: string): Promise<TrendingPage> {
  const response = await origin.ask(target);
  expect([target, response.status]).toEqual([target, 200]);
  return (await response.json()) as TrendingPage;
}

/** Lets the origin look until it serves the lists without what was removed: they are read before they are served. */
async function passUntilServed(): Promise<void> {
  const { version } = builder.database
    .query<{ version: number }, []>("SELECT version FROM removals_version")
    .get() ?? { version: 0 };
  await until(() => {
    origin.pass(100);
    return origin.cache.snapshot?.generation.hiddenVersion === `${version} 0`;
  });
}

/** All ids of a generation's list by rank, read page by page as a client does. Null where no video has the rank. */
async function readList(generation: number, limit: number): Promise<(string | null)[]> {
  const read: (string | null)[] = [];
  let target: string | null = `/api/trending?region=GB&limit=${limit}`;
  if (generation !== 3) target += `&cursor=${generation}-${limit}`;
  for (; target !== null; ) {
    const page: TrendingPage = await readPage(target);
    expect(page.count).toBe(page.items.length);
    for (const { id, rank } of page.items) {
      expect(read[rank - 1]).toBeUndefined();
      read[rank - 1] = id;
    }
    target = page.next;
  }
  return Array.from({ length: 60 }, (_, index) => read[index] ?? null);
}

test("a removed video is in no page of any generation, cached or not, and comes back when it is allowed", async () => {
  const removed = ids[2] ?? "";
  const first = "/api/trending?region=GB&limit=24";
  const tag = (await origin.ask(first)).headers.get("etag") ?? "";
  expect((await origin.ask(`/api/videos/${removed}`)).status).toBe(200);

  builder.takeDown("video", removed);
  await passUntilServed();
  expect((await origin.ask(first, { headers: { "If-None-Match": tag } })).status).toBe(200);
  expect(await readList(3, 24)).toEqual(ids.map((id) => (id === removed ? null : id)));
  expect((await origin.ask(`/api/videos/${removed}`)).status).toBe(404);

  builder.allow("video", removed);
  await passUntilServed();
  expect(await readList(3, 24)).toEqual(ids);
  expect((await origin.ask(`/api/videos/${removed}`)).status).toBe(200);
});

test(`ranks keep the gaps of any removals, and every other video is read exactly once (seed ${random.seed})`, async () => {
  for (let round = 0; round < drawsOf({ usual: 12, long: 200 }); round++) {
    const channel = `Channel ${random.below(7)}`;
    const single = new Set(Array.from({ length: random.below(40) }, () => ids[random.below(60)] ?? ""));
    builder.database.run("DELETE FROM removals");
    for (const id of single) builder.takeDown("video", id);
    builder.takeDown("channel", channel);
    await passUntilServed();
    const expected = listed.map((video) =>
      video.channel === channel || single.has(video.id) ? null : video.id,
    );
    const limit = 1 + random.below(50);
    expect([limit, await readList(3, limit)]).toEqual([limit, expected]);
    const older = [...Array(Math.min(limit, 60)).fill(null), ...expected.slice(limit)];
    expect([limit, await readList(2, limit)]).toEqual([limit, older]);
  }
});

test("a list whose rank is gone is torn, whatever was removed", async () => {
  builder.database.run("DELETE FROM trending WHERE rank = 30");
  builder.takeDown("video", ids[3] ?? "");
  origin.pass(50);
  expect((await origin.ask("/api/trending?region=GB&limit=7&cursor=2-28")).status).toBe(503);
});
