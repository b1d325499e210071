import { afterEach, beforeEach, expect, test } from "bun:test";
import { DatabaseBuilder, type ListSeed, videos } from "@trendvault/kit/database";
import { openTestOrigin, type TestOrigin } from "@trendvault/kit/origin";

let builder: DatabaseBuilder;
beforeEach(() => {
  builder = new DatabaseBuilder();
});
afterEach(() => builder.remove());

const lists: ListSeed[] = [
  { region: "DE", videos: videos(60) },
  { region: "DE", category: "Music", videos: videos(3) },
  { region: "DE", category: "#language:de", videos: videos(60).slice(20) },
  { region: "DE", category: "#language:en", videos: videos(20) },
  { region: "GB", category: "#language:en", videos: videos(2) },
  { region: "GB", category: "#language:audience=kids", videos: videos(30) },
  { region: "GB", category: "#language:duration=short", videos: videos(48).slice(20) },
];

const origin = (): Promise<TestOrigin> => openTestOrigin(builder.path);
const read = async ({ ask }: TestOrigin, target: string) => JSON.parse(await (await ask(target)).text());

test("a list of a language says which, and its token names it", async () => {
  builder.publish(lists);
  const page = await read(await origin(), "/api/trending?region=de&language=DE");
  expect(page).toMatchObject({ region: "DE", category: null, language: "de", count: 24, total: 40 });
  expect(page.items[0]).toMatchObject({ id: "video21", rank: 1 });
  expect(page.next).toBe("/api/trending?region=DE&language=de&cursor=1-24");
  const claims = JSON.parse(Buffer.from(page.token.split(".")[1], "base64url").toString());
  expect(claims.sub).toBe("DE/day/#language:de/1/0+24");
});

test("so does a list by another kind, whose pages follow", async () => {
  builder.publish(lists);
  const opened = await origin();
  const page = await read(opened, "/api/trending?duration=short&region=GB");
  expect(page).toMatchObject({ category: null, duration: "short", count: 24, total: 28 });
  expect(page.items[0]).toMatchObject({ id: "video21", rank: 1 });
  const claims = JSON.parse(Buffer.from(page.token.split(".")[1], "base64url").toString());
  expect(claims.sub).toBe("GB/day/#language:duration=short/1/0+24");
  expect(page.next).toBe("/api/trending?region=GB&duration=short&cursor=1-24");
  expect(await read(opened, page.next)).toMatchObject({ duration: "short", count: 4, next: null });
  expect(await read(opened, "/api/trending?region=GB&audience=kids")).toMatchObject({ audience: "kids" });
});

test("its pages follow, in every shape, and other lists do not say a language", async () => {
  builder.publish(lists);
  const opened = await origin();
  for (const fields of ["", "&fields=snippet", "&fields=chart"]) {
    const { next } = await read(opened, `/api/trending?region=DE&language=de${fields}`);
    expect(await read(opened, next)).toMatchObject({ language: "de", count: 16, next: null });
  }
  for (const target of ["/api/trending?region=DE", "/api/trending?region=DE&category=Music"]) {
    expect(await read(opened, target)).not.toHaveProperty("language");
  }
});

test("a kind without a list in that region is refused with those that have one", async () => {
  builder.publish(lists);
  const opened = await origin();
  for (const [query, detail] of [
    ["region=GB&language=de", "expected one of en"],
    ["region=DE&language=fr", "expected one of de, en"],
    ["region=FR&language=fr", "expected none"],
    ["region=DE&language=fr&cursor=1-24", "expected one of de, en"],
    ["region=DE&language=de&category=Music", "expected without category"],
  ]) {
    const response = await opened.ask(`/api/trending?${query}`);
    expect([query, response.status]).toEqual([query, 400]);
    expect(JSON.parse(await response.text()).invalid).toEqual([{ name: "language", detail }]);
  }
  for (const [query, name, detail] of [
    ["region=GB&duration=long", "duration", "expected one of short"],
    ["region=GB&live=now", "live", "expected none"],
    ["region=DE&audience=kids", "audience", "expected none"],
    ["region=GB&audience=kids&duration=short", "duration", "expected without audience"],
    ["region=GB&audience=adults", "audience", "expected one of kids"],
  ]) {
    const response = await opened.ask(`/api/trending?${query}`);
    expect(JSON.parse(await response.text()).invalid).toEqual([{ name, detail }]);
  }
});

test("the name of a language's list is no category", async () => {
  builder.publish(lists);
  const opened = await origin();
  for (const query of ["", "&cursor=1-24", "&cursor=7-24"]) {
    const response = await opened.ask(`/api/trending?region=DE&category=%23language:de${query}`);
    expect(response.status).toBe(400);
  }
  expect((await read(opened, "/api/regions")).categories).toEqual(["Music"]);
  for (const region of ["DE", "GB"])
    expect(await (await opened.ask(`/?region=${region}`)).text()).not.toContain("#language");
});

test("each region says which languages and other kinds have a list", async () => {
  builder.publish(lists);
  const { regions } = await read(await origin(), "/api/regions");
  const languages = Object.fromEntries(
    regions.map(({ code, language_lists }: Record<string, unknown>) => [code, language_lists]),
  );
  expect(languages).toMatchObject({ DE: ["de", "en"], GB: ["en"], FR: [] });
  expect(regions.find(({ code }: { code: string }) => code === "GB")).toMatchObject({
    audience_lists: ["kids"],
    live_lists: [],
    duration_lists: ["short"],
  });
});

test("a page links to those of its region, and is of one, in a frame, too", async () => {
  builder.publish(lists);
  const opened = await origin();
  const html = async (target: string) => {
    const response = await opened.ask(target);
    expect(response.headers.get("content-location")).toBe(target);
    return (await response.text()).replaceAll("&amp;", "&");
  };
  const links = (text: string) =>
    [...text.matchAll(/<a href="([^"]*)" data-pick(?: aria-current="")?/g)].map(([, href]) => href);
  const kinds = /audience|live|duration/;
  expect(links(await html("/?region=DE")).filter((href) => kinds.test(href ?? ""))).toEqual([]);
  expect(links(await html("/?region=GB")).filter((href) => kinds.test(href ?? ""))).toEqual([
    "/?region=GB&audience=kids",
    "/?region=GB&duration=short",
  ]);
  const page = await html("/?region=GB&duration=short");
  expect(page).toContain("<title>Trending: United Kingdom · Short videos</title>");
  expect(page).toContain('href="/?region=GB&duration=short" data-pick="" aria-current="true"');
  expect(page).toMatch(/<trendvault-list region="GB" window="day" duration="short"/);
  expect(page).toContain('href="/?region=GB&duration=short&cursor=1-24"');
  expect(page).toContain('<a href="/feeds/GB.json?duration=short"');
  expect(await html("/embed?region=GB&audience=kids")).toMatch(/<trendvault-list [^>]*audience="kids"/);
  expect((await opened.ask("/?region=GB&live=now")).status).toBe(400);
});

test("a feed is of one, says so, and is as strict", async () => {
  builder.publish(lists);
  const opened = await origin();
  const feed = await read(opened, "/feeds/GB.json?duration=short");
  expect(feed.title).toStartWith("Trending: United Kingdom · Short videos · ");
  expect(feed._trendvault).toMatchObject({ region: "GB", category: null, duration: "short" });
  const { items } = await read(opened, "/api/trending?region=GB&duration=short&limit=50");
  const videos = (all: { _trendvault: { video: string } }[]) =>
    all.map(({ _trendvault }) => _trendvault.video);
  expect(videos(feed.items)).toEqual(items.map(({ id }: { id: string }) => id));
  const atom = await (await opened.ask("/feeds/GB.atom?audience=kids")).text();
  expect(atom).toContain('<link rel="alternate" href="/?region=GB&amp;audience=kids"');
  expect((await opened.ask("/feeds/GB.atom?live=now")).status).toBe(400);
});

test("a cursor goes on in the list of a language that has none any more", async () => {
  builder.publish(lists);
  builder.publish([{ region: "DE", videos: videos(3) }]);
  const opened = await origin();
  expect(await read(opened, "/api/trending?region=DE&language=de&cursor=1-24")).toMatchObject({ count: 16 });
  expect((await opened.ask("/api/trending?region=DE&language=de")).status).toBe(400);
});

test("a video that was taken down is in no page of it, and a video's ranks are those in other lists", async () => {
  builder.publish(lists);
  builder.takeDown("video", "video22");
  const opened = await origin();
  const page = await read(opened, "/api/trending?region=DE&language=de&limit=3");
  expect(page.items.map(({ rank, id }: { rank: number; id: string }) => [rank, id])).toEqual([
    [1, "video21"],
    [3, "video23"],
  ]);
  const { trending } = await read(opened, "/api/videos/video21");
  expect(trending).toEqual([
    {
      region: "DE",
      window: "day",
      category: null,
      rank: 21,
      score: 40_001.6,
      expected_views: 400,
      score_unit: "views",
    },
  ]);
});
