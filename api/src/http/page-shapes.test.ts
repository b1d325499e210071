import { afterEach, beforeEach, expect, test } from "bun:test";
import { TrendingChartPage, TrendingPage, TrendingSnippetPage, Video } from "@trendvault/contract/responses";
import { DatabaseBuilder, videos } from "../../test-support/database-builder.ts";
import { openTestOrigin } from "../../test-support/test-origin.ts";

let builder: DatabaseBuilder;
let close: () => void = () => {};

beforeEach(() => {
  builder = new DatabaseBuilder();
});
afterEach(() => {
  close();
  builder.remove();
});

async function open(env: Record<string, string> = {}) {
  const origin = await openTestOrigin(builder.path, env);
  close = () => origin.watcher.close();
  // biome-ignore lint/suspicious/noExplicitAny: tests look into JSON of any shape
  return async (target: string): Promise<any> => (await origin.ask(target)).json();
}

test("each of the named shapes is what its schema says, and has the same videos", async () => {
  builder.publish([{ region: "DE", videos: videos(30) }]);
  const ask = await open();
  const whole = TrendingPage.parse(await ask("/api/trending?region=DE"));
  const chart = TrendingChartPage.parse(await ask("/api/trending?region=DE&fields=chart"));
  const snippet = TrendingSnippetPage.parse(await ask("/api/trending?region=DE&fields=snippet"));
  expect(chart.items.map(({ sparkline, ...item }) => item)).toEqual(whole.items);
  const { id, rank, title, channel, thumbs, url } = whole.items[0] ?? expect.unreachable();
  expect(snippet.items[0]).toEqual({ id, rank, title, channel, thumbs, url });
  expect(snippet.items.map((item) => item.id)).toEqual(whole.items.map((item) => item.id));
});

test("the next page has the same shape", async () => {
  builder.publish([{ region: "DE", videos: videos(30) }]);
  const ask = await open();
  const { next } = await ask("/api/trending?limit=10&fields=snippet&region=DE");
  expect(next).toBe("/api/trending?region=DE&fields=snippet&limit=10&cursor=1-10");
  expect(TrendingSnippetPage.parse(await ask(next)).items[0]?.rank).toBe(11);
});

test("a page says where its videos were, and when that was", async () => {
  const hour = 3600;
  const seeds = [{ id: "up", previousRank: 4 }, { id: "new" }];
  builder.publish([{ region: "DE", videos: seeds }], 1_795_171_200, 1_795_171_200 - hour);
  const page = await (await open())("/api/trending?region=DE");
  expect(page.previous_generated_at).toBe("2026-11-20T09:40:00Z");
  expect(page.items.map((item: { previous_rank: number | null }) => item.previous_rank)).toEqual([4, null]);
});

test("a video links to the URL that came with it, else to one made of VIDEO_URL", async () => {
  const own = "https://videos.example/own";
  builder.publish([{ region: "DE", videos: [{ id: "own", url: own }, { id: "a:b" }] }]);
  const ask = await open({ VIDEO_URL: "https://site.example/watch/{id}?from=list" });
  const made = "https://site.example/watch/a%3Ab?from=list";
  const { items } = await ask("/api/trending?region=DE");
  expect(items.map(({ url }: { url: string }) => url)).toEqual([own, made]);
  const snippet = await ask("/api/trending?region=DE&fields=snippet");
  expect(snippet.items.map(({ url }: { url: string }) => url)).toEqual([own, made]);
  expect(Video.parse(await ask("/api/videos/own")).url).toBe(own);
});

test("a chart has the views gained in the hours before, of each video and market", async () => {
  const hour = 1_795_171_200 / 3600; // when the list was made: 40 minutes later
  builder.publish([{ region: "DE", videos: videos(2) }]);
  builder.database.run("INSERT INTO hourly_views VALUES ('DE', 'video1', ?, '[null,7,10]')", [
    Math.floor(hour),
  ]);
  builder.database.run("INSERT INTO hourly_views VALUES ('GB', 'video2', ?, '[1,2]')", [Math.floor(hour)]);
  const ask = await open();
  const first = TrendingChartPage.parse(await ask("/api/trending?region=DE&fields=chart&limit=1"));
  expect(first.items[0]?.sparkline).toEqual([...Array(23).fill(null), 3]);
  const next = TrendingChartPage.parse(await ask(first.next ?? ""));
  expect(next.items[0]?.sparkline).toEqual(Array(24).fill(null));
});
