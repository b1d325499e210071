import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { parseKeyRing } from "@trendvault/contract/keys";
import { EdgeSigner, edgeSignatureHeader } from "@trendvault/contract/request-signatures";
import { schemas, type TrendingItem } from "@trendvault/contract/responses";
import { type DatabaseBuilder, videos } from "@trendvault/kit/database";
import { until } from "@trendvault/kit/machine";
import {
  closePublishedOrigin,
  OriginForEachTest,
  openPublishedOrigin,
  openTestOrigin,
  type TestOrigin,
  testTime,
} from "@trendvault/kit/origin";

describe("paths", () => {
  let builder: DatabaseBuilder;
  let origin: TestOrigin;

  beforeEach(async () => {
    ({ builder, origin } = await openPublishedOrigin());
  });
  afterEach(() => closePublishedOrigin({ builder, origin }));

  test("the regions say which generations are kept", async () => {
    const expectKept = (kept: { generation: number; oldest_generation: number }) =>
      until(async () => {
        origin.pass(50);
        return Bun.deepMatch(kept, await (await origin.ask("/api/regions")).json());
      });
    await expectKept({ generation: 1, oldest_generation: 1 });
    builder.publish([]);
    await expectKept({ generation: 2, oldest_generation: 1 });
    builder.prune(1);
    await expectKept({ generation: 2, oldest_generation: 2 });
  });

  test("answers are what the schemas of the description say", async () => {
    const json = async (target: string) => (await origin.ask(target)).json();
    schemas.TrendingPage.parse(await json("/api/trending"));
    schemas.TrendingPage.parse(await json("/api/trending?region=DE&category=Music"));
    schemas.TrendingPage.parse(await json("/api/trending?region=CZ"));
    schemas.Video.parse(await json("/api/videos/video1"));
    schemas.RegionList.parse(await json("/api/regions"));
    schemas.PublicKeys.parse(await json("/.well-known/jwks.json"));
    expect(await json("/openapi.json")).toHaveProperty("openapi", "3.1.0");
  });

  test("videos that a catalogue announces, without a view count, are listed as the description says", async () => {
    builder.publish([{ region: "GB", videos: videos(30, "announced") }]);
    builder.database.run("UPDATE trending SET views = 0, views_per_hour = 0, previous_views_per_hour = NULL");
    builder.database.run("UPDATE generation_regions SET newest_observed_at = NULL");
    const announced = await openTestOrigin(builder.path);
    const json = async (target: string) => (await announced.ask(target)).json();
    const page = schemas.TrendingPage.parse(await json("/api/trending"));
    expect(page).toMatchObject({ count: 24, newest_observed_at: null });
    expect(page.items[0]?.velocity).toEqual({ views_per_hour: 0, previous_views_per_hour: null, views: 0 });
    expect(schemas.Video.parse(await json("/api/videos/announced1")).history).toEqual([]);
    schemas.RegionList.parse(await json("/api/regions"));
    announced.watcher.close();
  });

  test("a video says where it trends and how its views grew, newest first", async () => {
    builder.observe("video2", "GB", [
      [1000, 10],
      [2000, 25],
    ]);
    // Came late: it is not in the chain.
    builder.database.run(
      "INSERT INTO observations (observed_at, region, video_id, views) VALUES (1500, 'GB', 'video2', 99)",
    );
    const video = (await (await origin.ask("/api/videos/video2")).json()) as Record<string, unknown>;
    expect(video.trending).toEqual([
      {
        region: "DE",
        window: "day",
        category: "Music",
        rank: 2,
        score: 1000,
        expected_views: 10,
        score_unit: "views",
      },
      {
        region: "DE",
        window: "now",
        category: null,
        rank: 2,
        score: 2000.1,
        expected_views: 20,
        score_unit: "views",
      },
      {
        region: "GB",
        window: "day",
        category: null,
        rank: 2,
        score: 29001.2,
        expected_views: 290,
        score_unit: "views",
      },
    ]);
    expect(video.history).toEqual([
      {
        region: "GB",
        observations: [
          { observed_at: "1970-01-01T00:33:20Z", views: 25 },
          { observed_at: "1970-01-01T00:16:40Z", views: 10 },
        ],
      },
    ]);
  });

  test.each([
    "/api/videos/none",
    "/api/videos/",
    "/api/videos/%zz",
    "/api/videos/%00",
    `/api/videos/${"x".repeat(65)}`,
    "/api/videos/a/b",
  ])("%s is 404", async (target) => {
    expect((await origin.ask(target)).status).toBe(404);
  });

  test("parameters where there are none are refused", async () => {
    for (const target of ["/api/regions?x=1", "/api/videos/video1?a", "/openapi.json?v=2"]) {
      expect((await origin.ask(target)).status).toBe(400);
    }
  });

  test("a path and query of more than 2048 characters are 414", async () => {
    const ofLength = (length: number) => "/api/trending?".padEnd(length, "x");
    expect((await origin.ask(ofLength(2048))).status).toBe(400);
    expect((await origin.ask(ofLength(2049))).status).toBe(414);
  });

  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const keys = `e1:${"B".repeat(43)}`;

  test.each([
    ["the edge", { EDGE_KEYS: keys }, "4bf92f3577b34da6a3ce929d0e0e4736"],
    ["anybody, whose trace may name a visitor", {}, null],
  ])("a failure is 500 with an id that leads to the log; asked by %s", async (_by, env, traceId) => {
    origin.watcher.close();
    origin = await openTestOrigin(builder.path, env);
    origin.lists.readVideo = () => {
      throw new Error("readVideo is broken");
    };
    const signature = await new EdgeSigner(parseKeyRing(keys)).sign(testTime / 1000);
    const headers = { traceparent, [edgeSignatureHeader]: signature };
    const response = await origin.ask("/api/videos/video1?", { headers });
    const problem = (await response.json()) as { instance: string };
    expect(response.status).toBe(500);
    expect(JSON.stringify(problem)).not.toContain("readVideo");
    const [logged] = origin.logged;
    expect(logged?.facts.trace_id).toBe(traceId);
    expect(`urn:uuid:${logged?.facts.request_id}`).toBe(problem.instance);
  });
});

describe("shapes of a page", () => {
  const given = new OriginForEachTest();

  async function open(env: Record<string, string> = {}) {
    const origin = await given.open(env);
    // biome-ignore lint/suspicious/noExplicitAny: tests look into JSON of any shape
    return async (target: string): Promise<any> => (await origin.ask(target)).json();
  }

  test("each of the named shapes is what its schema says, and has the same videos", async () => {
    given.builder.publish([{ region: "DE", videos: videos(30) }]);
    const ask = await open();
    const whole = schemas.TrendingPage.parse(await ask("/api/trending?region=DE"));
    const chart = schemas.TrendingChartPage.parse(await ask("/api/trending?region=DE&fields=chart"));
    const snippet = schemas.TrendingSnippetPage.parse(await ask("/api/trending?region=DE&fields=snippet"));
    expect(chart.items.map(({ sparkline, ...item }) => item)).toEqual(whole.items);
    const { id, rank, title, channel, thumbs, url } = whole.items[0] ?? expect.unreachable();
    expect(snippet.items[0]).toEqual({ id, rank, title, channel, thumbs, url });
    expect(snippet.items.map((item) => item.id)).toEqual(whole.items.map((item) => item.id));
  });

  test("the next page has the same shape", async () => {
    given.builder.publish([{ region: "DE", videos: videos(30) }]);
    const ask = await open();
    const { next } = await ask("/api/trending?limit=10&fields=snippet&region=DE");
    expect(next).toBe("/api/trending?region=DE&fields=snippet&limit=10&cursor=1-10");
    expect(schemas.TrendingSnippetPage.parse(await ask(next)).items[0]?.rank).toBe(11);
  });

  test("a page says where its videos were, and when that was", async () => {
    const hour = 3600;
    const seeds = [{ id: "up", previousRank: 4 }, { id: "new" }];
    given.builder.publish([{ region: "DE", videos: seeds }], 1_795_171_200, 1_795_171_200 - hour);
    const page = await (await open())("/api/trending?region=DE");
    expect(page.previous_generated_at).toBe("2026-11-20T09:40:00Z");
    expect(page.items.map((item: { previous_rank: number | null }) => item.previous_rank)).toEqual([4, null]);
  });

  test("a video links to the URL that came with it, else to one made of VIDEO_URL", async () => {
    const own = "https://videos.example/own";
    given.builder.publish([{ region: "DE", videos: [{ id: "own", url: own }, { id: "a:b" }] }]);
    const ask = await open({ VIDEO_URL: "https://site.example/watch/{id}?from=list" });
    const made = "https://site.example/watch/a%3Ab?from=list";
    const { items } = await ask("/api/trending?region=DE");
    expect(items.map(({ url }: { url: string }) => url)).toEqual([own, made]);
    const snippet = await ask("/api/trending?region=DE&fields=snippet");
    expect(snippet.items.map(({ url }: { url: string }) => url)).toEqual([own, made]);
    expect(schemas.Video.parse(await ask("/api/videos/own")).url).toBe(own);
  });

  test("a video says its tags, licence, titles and pictures, those that it has, and lists do not", async () => {
    given.builder.publish([{ region: "DE", videos: videos(3) }]);
    const ask = await open();
    const before = JSON.stringify((await ask("/api/trending?region=DE")).items);
    const [tags, titles] = [["a", "b"], { fr: "Un titre" }];
    const pictures = [{ url: "https://img.example/a", width: 640, height: 360 }];
    const add = (id: string, ...values: (string | null)[]) =>
      given.builder.database.run("INSERT INTO details VALUES (?, ?, ?, ?, ?)", [id, ...values]);
    add("video1", JSON.stringify(tags), "CC0-1.0", JSON.stringify(titles), JSON.stringify(pictures));
    add("video2", null, "CC BY", null, null);
    const details = async (id: string) => {
      const { tags, licence, titles, pictures } = schemas.Video.parse(await ask(`/api/videos/${id}`));
      return { tags, licence, titles, pictures };
    };
    expect(await details("video1")).toEqual({ tags, licence: "CC0-1.0", titles, pictures });
    const none = { tags: undefined, titles: undefined, pictures: undefined };
    expect(await details("video2")).toStrictEqual({ ...none, licence: "CC BY" });
    expect(Object.keys(await ask("/api/videos/video3"))).not.toContain("tags");
    expect(JSON.stringify((await ask("/api/trending?region=DE")).items)).toBe(before);
  });

  test("a video that has pictures shows two of them, and others those of its thumb_base", async () => {
    given.builder.publish([{ region: "DE", videos: videos(2) }]);
    const own = ["https://img.example/640", "https://img.example/320"];
    given.builder.database.run("UPDATE videos SET thumbs = ? WHERE id = 'video1'", [JSON.stringify(own)]);
    const thumbs = [own, ["https://thumbs.example/video2/hq.webp", "https://thumbs.example/video2/sd.webp"]];
    const ask = await open();
    const thumbsOf = (ones: { thumbs: string[] }[]) => ones.map((one) => one.thumbs);
    for (const fields of ["", "&fields=snippet", "&fields=chart"])
      expect(thumbsOf((await ask(`/api/trending?region=DE${fields}`)).items)).toEqual(thumbs);
    expect(thumbsOf([await ask("/api/videos/video1"), await ask("/api/videos/video2")])).toEqual(thumbs);
    expect((await ask("/feeds/DE.json")).items[0].image).toBe("https://img.example/640");
    given.builder.database.run("UPDATE videos SET thumbs = ? WHERE id = 'video1'", ['["data:,","data:,"]']);
    const feed = await (await open())("/feeds/DE.json");
    expect(feed.items.map((item: { image?: string }) => item.image)).toEqual([undefined, thumbs[1]?.[0]]);
  });

  test("titles in a language are each video's in it, where it has one or is in it, else as without", async () => {
    given.builder.publish([
      {
        region: "DE",
        videos: [
          { id: "one", title: "A title", titleInRegion: "de Ein Titel" },
          { id: "two", title: "Un titre", titleInRegion: "de Noch einer" },
          { id: "three", title: "Another", titleInRegion: "de Kein anderer" },
          { id: "four", title: "Four" },
        ],
      },
    ]);
    given.builder.database.run("UPDATE videos SET language = 'fr-CH' WHERE id = 'two'");
    const ask = await open();
    const list = "/api/trending?region=DE";
    const before = await ask(list);
    const titles = { de: "Ein Titel", "fr-CA": "Une vidéo", fr: "Un film" };
    for (const [id, some] of [
      ["one", titles],
      ["three", { pl: "Tytuł" }],
    ] as const)
      given.builder.database.run("INSERT INTO details (video_id, titles) VALUES (?, ?)", [
        id,
        JSON.stringify(some),
      ]);
    const shown = async (target: string) => {
      const { items } = await ask(target);
      return items.map((item: TrendingItem) => [item.title, item.title_language]);
    };
    const inFrench = [
      ["Un film", "fr"],
      ["Un titre", undefined],
      ["Kein anderer", "de"],
      ["Four", undefined],
    ];
    for (const fields of ["", "&fields=snippet", "&fields=chart"])
      expect(await shown(`${list}&titles=fr${fields}`)).toEqual(inFrench);
    expect((await shown(`${list}&titles=pl`))[2]).toEqual(["Tytuł", "pl"]);
    expect((await ask(list)).items).toEqual(before.items);
    const first = await ask(`${list}&limit=1&titles=fr`);
    expect(await shown(first.next)).toEqual([inFrench[1]]);
  });

  test.each([
    ["fr", { fr: "Un film" }, ["Un film", "fr"]], // its source gave that title a language, as the writer prefers
    ["fr", { "fr-CA": "Une vue" }, ["Own", undefined]],
    ["fr-CH", { "fr-CA": "Une vue", "fr-BE": "Un film" }, ["Un film", "fr-BE"]],
    ["fr-CH", { FR: "Own" }, ["Own", undefined]],
    ["fr-CH", { de: "Ein Titel" }, ["Own", undefined]],
    ["en", { de: "Ein Titel" }, ["Kept", "de"]],
  ])("of a video in %s with %j a French list shows %j", async (language, titles, shown) => {
    given.builder.publish([
      { region: "DE", videos: [{ id: "one", title: "Own", titleInRegion: "de Kept" }] },
    ]);
    given.builder.database.run("UPDATE videos SET language = ?", [language]);
    given.builder.database.run("INSERT INTO details (video_id, titles) VALUES ('one', ?)", [
      JSON.stringify(titles),
    ]);
    const { items } = await (await open())("/api/trending?region=DE&titles=fr");
    expect([items[0].title, items[0].title_language]).toEqual(shown);
  });

  test("whatever shows a list shows the titles of its region, and says their language", async () => {
    const seed = { id: "both", title: "A title", titleInRegion: "de Ein Titel" };
    given.builder.publish([
      { region: "DE", videos: [seed, { id: "one" }] },
      { region: "GB", videos: [{ ...seed, titleInRegion: undefined }] },
    ]);
    const ask = await open();
    for (const fields of ["", "&fields=snippet", "&fields=chart"]) {
      const { items } = await ask(`/api/trending?region=DE${fields}`);
      expect(items[0]).toMatchObject({ title: "Ein Titel", title_language: "de" });
      expect(items[1]).not.toHaveProperty("title_language");
      expect((await ask(`/api/trending?region=GB${fields}`)).items[0]).toMatchObject({ title: "A title" });
    }
    const explanation = await ask("/api/videos/both/explain?region=DE&window=day");
    expect(explanation.title).toBe("Ein Titel");
    expect(explanation.sentences[0]).toContain("“Ein Titel” is at rank 1");
    expect((await ask("/feeds/DE.json")).items[0].title).toBe("Ein Titel");
    const exported = await openTestOrigin(given.builder.path);
    const text = await (await exported.ask("/api/export/DE.ndjson?window=day")).text();
    exported.watcher.close();
    expect(JSON.parse(text.split("\n")[1] ?? "")).toMatchObject({ title: "Ein Titel", title_language: "de" });
    expect((await ask("/api/videos/both")).title).toBe("A title");
  });

  test("a chart has the views gained in the hours before, of each video and region", async () => {
    const hour = 1_795_171_200 / 3600; // when the list was made: 40 minutes later
    given.builder.publish([{ region: "DE", videos: videos(2) }]);
    given.builder.database.run("INSERT INTO hourly_views VALUES ('DE', 'video1', ?, '[null,7,10]')", [
      Math.floor(hour),
    ]);
    given.builder.database.run("INSERT INTO hourly_views VALUES ('GB', 'video2', ?, '[1,2]')", [
      Math.floor(hour),
    ]);
    const ask = await open();
    const first = schemas.TrendingChartPage.parse(await ask("/api/trending?region=DE&fields=chart&limit=1"));
    expect(first.items[0]?.sparkline).toEqual([...Array(23).fill(null), 3]);
    const next = schemas.TrendingChartPage.parse(await ask(first.next ?? ""));
    expect(next.items[0]?.sparkline).toEqual(Array(24).fill(null));
  });
});
