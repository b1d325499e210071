import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { longestBody } from "@trendvault/contract/http";
import { pageLanguages, policies } from "@trendvault/contract/page";
import type { TrendingItem } from "@trendvault/contract/responses";
import { DatabaseBuilder, videos } from "@trendvault/kit/database";
import { OriginForEachTest, openTestOrigin, type TestOrigin } from "@trendvault/kit/origin";
import { hostileText, Random } from "@trendvault/kit/random";
import { XMLParser, XMLValidator } from "fast-xml-parser";
import { type DefaultTreeAdapterTypes, parse } from "parse5";
import { allMessages } from "../../../web/client/src/view/locales/all.ts";
import { formatsOf } from "../../../web/client/src/view/locales/locale.ts";

const origin = new OriginForEachTest();

async function elementsOf(target: string): Promise<Element[]> {
  const response = await origin.ask(target);
  expect([target, response.status]).toEqual([target, 200]);
  return parseElements(await response.text());
}

describe("the page of a list", () => {
  beforeEach(async () => {
    origin.builder.publish([
      { region: "GB", videos: videos(30) },
      { region: "PL", window: "now", category: "Kids' TV", videos: videos(3) },
      { region: "PL", videos: videos(3) },
      { region: "DE", videos: videos(30, "other") },
    ]);
    await origin.open();
  });

  test("has the list in it, in the language of the region, with the same token as the list", async () => {
    const elements = await elementsOf("/?region=PL");
    expect(attribute(elements[0] as Element, "lang")).toBe("pl");
    expect(classed(elements, "title").map(textOf)).toEqual([1, 2, 3].map((n) => `Title of video${n}`));
    expect(named(elements, "textarea")).toEqual([]); // the origin does not know the address to share
    const data = elements.find((element) => attribute(element, "id") === "list-data") as Element;
    const { token, items } = JSON.parse(textOf(data));
    const list = (await (await origin.ask("/api/trending?region=PL&fields=chart")).json()) as {
      token: string;
    };
    expect(token).toBe(list.token);
    expect(items).toHaveLength(3);
  });

  test("has titles in its own language, with all that its script asks for, where it is not the region's", async () => {
    const shown = async (target: string) => {
      const elements = await elementsOf(target);
      const list = named(elements, "trendvault-list")[0] as Element;
      const data = elements.find((element) => attribute(element, "id") === "list-data") as Element;
      const { items, next } = JSON.parse(textOf(data));
      return {
        title: textOf(classed(elements, "title")[0] as Element),
        lang: attribute(classed(elements, "title")[0] as Element, "lang"),
        given: items[0].title,
        asked: attribute(list, "titles"),
        isKept: new URLSearchParams(next.split("?")[1]).get("titles"),
      };
    };
    const own = { title: "Title of video1", given: "Title of video1", asked: null, isKept: null };
    expect(await shown("/?region=GB&lang=fr")).toEqual({ ...own, lang: "en" });
    const titles = JSON.stringify({ fr: "Un titre", en: "A title" });
    origin.builder.database.run("INSERT INTO details (video_id, titles) VALUES ('video1', ?)", [titles]);
    await origin.open();
    const french = { title: "Un titre", lang: null, given: "Un titre", asked: "fr", isKept: "fr" };
    for (const path of ["/", "/embed"]) expect(await shown(`${path}?region=GB&lang=fr`)).toEqual(french);
    // Both are one page, kept as it was made for the first who asked.
    for (const lang of ["&lang=en", ""])
      expect(await shown(`/?region=GB${lang}`)).toEqual({ ...own, lang: null });
    const other = { title: "Title of other1", given: "Title of other1" };
    expect(await shown("/?region=DE&lang=fr")).toEqual({ ...own, ...other, lang: "en" });
  });

  test("is as stable, compressed and signed as a list", async () => {
    const headers = { "accept-encoding": "br" };
    const first = await origin.ask("/?region=GB", { headers });
    expect(first.headers.get("content-encoding")).toBe("br");
    expect(first.headers.get("content-location")).toBe("/?region=GB");
    expect(first.headers.get("signature")).toStartWith("tv=:");
    const etag = first.headers.get("etag") ?? "";
    expect((await origin.ask("/?region=gb", { headers: { ...headers, "if-none-match": etag } })).status).toBe(
      304,
    );
  });

  test("links only to what answers 200, by its canonical URL, from every page that it links to", async () => {
    const seen = new Set(["/?region=GB"]);
    for (const target of seen) {
      const links = named(await elementsOf(target), "a").map((link) => attribute(link, "href") ?? "");
      const pages = links.filter((href) => href.startsWith("/?"));
      if (seen.size < 60) for (const href of pages) seen.add(href);
    }
    for (const target of seen) {
      expect((await origin.ask(target)).headers.get("content-location")).toBe(target);
    }
    expect([...seen].filter((target) => target.includes("cursor=1-24"))).not.toEqual([]);
    expect([...seen].filter((target) => target.includes("Kids%27%20TV"))).not.toEqual([]);
  });

  test("has a form that gives a valid URL for every region", async () => {
    const elements = await elementsOf("/?region=GB&window=now&lang=de");
    const kept = named(elements, "input").map((input): [string, string] => [
      attribute(input, "name") ?? "",
      attribute(input, "value") ?? "",
    ]);
    expect(kept).toEqual([
      ["window", "now"],
      ["lang", "de"],
    ]);
    for (const option of named(elements, "option")) {
      const search = new URLSearchParams([["region", attribute(option, "value") ?? ""], ...kept]);
      expect((await origin.ask(`/?${search}`)).status).toBe(200);
    }
  });

  test("has no inline script or style, and loads only what is built", async () => {
    const elements = await elementsOf("/?region=GB");
    expect(named(elements, "style")).toEqual([]);
    for (const { attrs } of elements) {
      for (const { name } of attrs) expect(name).not.toMatch(/^on|^style$/);
    }
    for (const script of named(elements, "script")) {
      const isData = attribute(script, "type") === "application/json";
      expect(isData || attribute(script, "src")?.startsWith("/assets/page-")).toBe(true);
    }
    const paths = elements.flatMap(
      (element) => attribute(element, "href") ?? attribute(element, "src") ?? [],
    );
    const loaded = [...new Set(paths.filter((path) => path.startsWith("/assets/")))];
    for (const path of loaded) expect((await origin.ask(path)).status).toBe(200);
    expect(loaded.length).toBeGreaterThan(4);
  });

  test("comes with the policy, which names the hosts of pictures", async () => {
    await origin.open({ THUMBNAIL_HOSTS: "thumbs.example" });
    const { headers } = await origin.ask("/?region=GB");
    expect(headers.get("content-security-policy")).toContain("img-src 'self' thumbs.example;");
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    const pictures = named(await elementsOf("/?region=GB"), "img").map((image) => attribute(image, "src"));
    expect(pictures[0]).toBe("https://thumbs.example/video1/sd.webp");
  });

  test.each([
    ["/?region=XX", 400],
    ["/?lang=xx", 400],
    ["/?region=GB&category=None", 400],
    ["/?region=GB&cursor=1-48", 404],
    ["/assets/none-1.js", 404],
    ["/assets/../manifest.json", 404],
    ["/assets/%2e%2e%2fmanifest.json", 404],
  ])("%s is a problem of status %d", async (target, status) => {
    expect((await origin.ask(target)).status).toBe(status);
  });

  test("of a generation that is gone says at which page to start again", async () => {
    const response = await origin.ask("/?region=PL&window=now&lang=en&cursor=99-24");
    expect(response.status).toBe(410);
    expect(await response.json()).toMatchObject({ restart: "/?region=PL&window=now&lang=en" });
  });
});

const random = new Random();

/** A title that the database takes. */
function drawTitle(longest: number): string {
  const text = hostileText(random).slice(0, longest).toWellFormed();
  return text.replaceAll("\0", "\ufffd");
}

test(`a title of any kind is text in the page and in its data (seed ${random.seed})`, async () => {
  const titles = Array.from({ length: 24 }, () => drawTitle(300));
  const seeds = titles.map((title, index) => ({
    id: `video${index}`,
    title,
    channel: title.slice(0, 200),
  }));
  origin.builder.publish([{ region: "GB", videos: seeds }]);
  await origin.open();
  const elements = await elementsOf("/?region=GB");
  const shown = (title: string) => title.replaceAll("\r", "\n");
  expect(classed(elements, "title").map(textOf)).toEqual(titles.map(shown));
  const data = elements.find((element) => attribute(element, "id") === "list-data") as Element;
  const list = JSON.parse(textOf(data)) as { token: string; items: { title: string }[] };
  expect(list.items.map(({ title }) => title)).toEqual(titles);
  expect(list.token).toStartWith("eyJ");
  expect(named(elements, "script").length).toBe(3);
});

test("however long the catalogue's texts and however many its categories, the edge reads pages and feeds whole", async () => {
  const long = { title: `"`.repeat(300), channel: `"`.repeat(200), category: "\u0141".repeat(60) };
  const url = "https://videos.example/?".padEnd(2000, "&");
  const listed = Array.from({ length: 50 }, (_, n) => ({ id: `video-${n}`.padEnd(64, "-"), ...long, url }));
  const categories = Array.from({ length: 300 }, (_, n) => String(n).padEnd(60, "\u0141"));
  const shown = categories.at(-1) ?? "";
  origin.builder.publish([
    { region: "GB", videos: listed },
    ...categories.map((category) => ({ region: "GB", category, videos: listed.slice(0, 1) })),
  ]);
  origin.builder.database.run("UPDATE videos SET thumb_base = ?", [
    "https://videos.example/".padEnd(500, "&"),
  ]);
  await origin.open({ THUMBNAIL_HOSTS: "videos.example" });
  for (const target of [
    "/",
    `/?category=${encodeURIComponent(shown)}`,
    "/feeds/GB.atom",
    "/feeds/GB.json",
    "/api/trending?limit=50&fields=chart",
  ]) {
    const response = await origin.ask(target);
    const { length } = await response.text();
    expect([target, response.status, length < longestBody / 2]).toEqual([target, 200, true]);
  }
});

test("a category may be called like a member of every object", async () => {
  const names = Object.getOwnPropertyNames(Object.prototype);
  const videos = [{ id: "video" }];
  origin.builder.publish([
    { region: "GB", videos },
    ...names.map((category) => ({ region: "GB", category, videos })),
  ]);
  await origin.open();
  for (const category of names) {
    const elements = await elementsOf(`/?region=GB&category=${category}`);
    const [title] = named(elements, "title").map(textOf);
    expect(title).toBe(`Trending: United Kingdom · ${category}`);
    const shown = named(elements, "a").map(textOf);
    expect(names.filter((name) => !shown.includes(name))).toEqual([]);
    const feed = (await (await origin.ask(`/feeds/GB.json?category=${category}`)).json()) as {
      title: string;
    };
    expect(feed.title).toContain(`· ${category} ·`);
  }
});

describe("a feed", () => {
  type JsonFeed = {
    version: string;
    title: string;
    language: string;
    items: Record<string, unknown>[];
    _trendvault: Record<string, unknown>;
  };
  type AtomEntry = {
    id: string;
    title: { "#text": string; "@type": string };
    updated: string;
    author: { name: string };
    link?: { "@href": string };
    content?: unknown;
    "trendvault:score": string;
    "trendvault:expected_views"?: string;
    "trendvault:duration_seconds"?: string;
  };
  type AtomFeed = {
    id: string;
    title: string;
    updated: string;
    link: Record<string, string>[];
    entry: AtomEntry[];
    "trendvault:score_unit": string;
  };

  const origin = new OriginForEachTest();

  async function textOf(target: string): Promise<string> {
    const response = await origin.ask(target);
    expect([target, response.status]).toEqual([target, 200]);
    return response.text();
  }

  async function atomOf(target: string): Promise<AtomFeed> {
    const text = await textOf(target);
    expect(XMLValidator.validate(text)).toBe(true);
    const parser = new XMLParser({
      ...{ ignoreAttributes: false, attributeNamePrefix: "@", trimValues: false, parseTagValue: false },
      isArray: (name) => name === "entry",
    });
    const { feed } = parser.parse(text) as { feed: AtomFeed & Record<string, string> };
    expect(feed["@xmlns"]).toBe("http://www.w3.org/2005/Atom");
    return feed;
  }

  const toNumber = (text: string | undefined) => (text === undefined ? undefined : Number(text));
  const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
  const absolute = /^[a-z][a-z0-9+.-]*:\S+$/i;

  describe("a feed", () => {
    beforeEach(async () => {
      origin.builder.publish([
        { region: "PL", videos: videos(60) },
        { region: "PL", window: "now", category: "Kids' TV", videos: videos(3) },
      ]);
      origin.builder.database.run("UPDATE trending SET expected_views = NULL WHERE rank = 2");
      origin.builder.database.run("UPDATE videos SET duration_seconds = NULL WHERE id LIKE '%1'");
      origin.builder.database.run("UPDATE trending SET views = 0 WHERE rank = 3");
      await origin.open({ VIDEO_URL: "https://site.example/watch/{id}" });
    });

    test("has a title of its own for each window and category", async () => {
      const queries = ["", "?window=now", "?window=now&category=Kids%27+TV"];
      const feeds = await Promise.all(queries.map((query) => textOf(`/feeds/PL.json${query}`)));
      const titles = feeds.map((text) => (JSON.parse(text) as JsonFeed).title);
      expect(new Set(titles).size).toBe(3);
      expect(titles[2]).toContain("Kids' TV");
    });

    test("says how fast views grow, and nothing of those that nobody counted", async () => {
      const { items } = JSON.parse(await textOf("/feeds/pl.json")) as JsonFeed;
      expect(items[1]?.content_text).toMatch(/^2\. \d\S* \p{L}+/u);
      expect(items[2]?.content_text).toBe("3.");
    });

    test("is the list of its region, in its language", async () => {
      const feed = JSON.parse(await textOf("/feeds/pl.json")) as JsonFeed;
      const list = (await (await origin.ask("/api/trending?region=PL&limit=50")).json()) as {
        items: TrendingItem[];
        generated_at: string;
        score_unit: string;
      };
      expect([feed.version, feed.language]).toEqual(["https://jsonfeed.org/version/1.1", "pl"]);
      expect(feed.title).toContain("Polska");
      expect(feed._trendvault.generated_at).toBe(list.generated_at);
      expect(feed.items.map(({ title, url }) => [title, url])).toEqual(
        list.items.map(({ title, url }) => [title, url]),
      );
      const scores = list.items.map(({ score, expected_views, duration_seconds }) => ({
        ...{ score, expected_views },
        ...(duration_seconds !== undefined && { duration_seconds }),
      }));
      const known = scores.filter(({ duration_seconds }) => duration_seconds !== undefined).length;
      expect(known).toBeWithin(1, scores.length);
      expect(feed._trendvault.score_unit).toBe(list.score_unit);
      expect(feed.items.map(({ _trendvault }) => _trendvault)).toMatchObject(scores);
      const { entry, "trendvault:score_unit": unit } = await atomOf("/feeds/PL.atom");
      expect(unit).toBe(list.score_unit);
      expect(
        entry.map((one) => ({
          score: Number(one["trendvault:score"]),
          expected_views: toNumber(one["trendvault:expected_views"]) ?? null,
          duration_seconds: toNumber(one["trendvault:duration_seconds"]),
        })),
      ).toMatchObject(scores);
      expect(entry.map(({ title, link }) => [title["#text"], link?.["@href"] ?? null])).toEqual(
        list.items.map(({ title, url }) => [title, url]),
      );
    });

    test("follows the rules of JSON Feed 1.1", async () => {
      const { items } = JSON.parse(await textOf("/feeds/PL.json")) as JsonFeed;
      expect(items.length).toBe(50);
      expect(new Set(items.map(({ id }) => id)).size).toBe(50);
      for (const item of items) {
        expect(item).toMatchObject({
          id: expect.stringMatching(absolute),
          content_text: expect.stringMatching(/^\d+\./),
        });
        expect(item.authors).toEqual([{ name: expect.any(String) }]);
        const known = ["id", "url", "title", "content_text", "image", "date_published", "authors", "tags"];
        for (const name of Object.keys(item)) expect(known.includes(name) || name.startsWith("_")).toBe(true);
      }
    });

    test("follows the rules of Atom (RFC 4287, section 4.1)", async () => {
      const feed = await atomOf("/feeds/PL.atom?window=day");
      expect(feed.id).toMatch(absolute);
      expect(feed.updated).toMatch(rfc3339);
      expect(feed.link.map((link) => link["@rel"])).toEqual(["self", "alternate", "alternate"]);
      expect(new Set(feed.entry.map(({ id }) => id)).size).toBe(50);
      for (const { id, title, updated, author } of feed.entry) {
        expect([id, updated, title["@type"]]).toEqual([
          expect.stringMatching(absolute),
          expect.stringMatching(rfc3339),
          "text",
        ]);
        expect(author.name.length).toBeGreaterThan(0);
      }
      for (const link of feed.link) expect((await origin.ask(link["@href"] ?? "")).status).toBe(200);
    });

    test("has an id for each video, also where the catalogue gives two of them one address", async () => {
      const url = "https://site.example/watch/other";
      origin.builder.publish(
        [{ region: "PL", videos: videos(3).map((video) => ({ ...video, url })) }],
        1_795_171_260,
      );
      await origin.open();
      const { items } = JSON.parse(await textOf("/feeds/PL.json")) as JsonFeed;
      const ids = (await atomOf("/feeds/PL.atom")).entry.map(({ id }) => id);
      expect(items.map(({ id, url }) => [id, url])).toEqual(ids.map((id) => [id, url]));
      expect(new Set(ids).size).toBe(3);
    });

    test("is as stable, typed and signed as a list", async () => {
      const response = await origin.ask("/feeds/PL.atom?category=Kids'+TV&window=now");
      expect(response.headers.get("content-type")).toBe("application/atom+xml");
      expect(response.headers.get("content-location")).toBe(
        "/feeds/PL.atom?window=now&category=Kids%27%20TV",
      );
      expect(response.headers.get("signature")).toStartWith("tv=:");
      const headers = { "if-none-match": response.headers.get("etag") ?? "" };
      const target = "/feeds/PL.atom?window=now&category=Kids%27%20TV";
      expect((await origin.ask(target, { headers })).status).toBe(304);
      expect((await origin.ask(target, { method: "HEAD" })).status).toBe(200);
    });

    test.each([
      ["/feeds/PL.json?limit=5", 400],
      ["/feeds/PL.json?region=DE", 400],
      ["/feeds/PL.json?category=None", 400],
      ["/feeds/PL.json??window=now", 400], // a second "?" is part of a name, as at the edge
      ["/api/videos/video1/explain??region=PL", 400],
      ["/feeds/XX.json", 404],
      ["/feeds/PL.rss", 404],
    ])("%s is a problem of status %d", async (target, status) => {
      expect((await origin.ask(target)).status).toBe(status);
    });
  });

  const random = new Random();

  test(`a title of any kind is text in both forms (seed ${random.seed})`, async () => {
    const titles = Array.from({ length: 50 }, () =>
      hostileText(random).slice(0, 200).toWellFormed().replaceAll("\0", "\ufffd"),
    );
    const seeds = titles.map((title, index) => ({ id: `video${index}`, title, channel: title }));
    origin.builder.publish([{ region: "GB", videos: seeds }]);
    await origin.open();
    const { items } = JSON.parse(await textOf("/feeds/GB.json")) as JsonFeed;
    expect(items.map(({ title }) => title)).toEqual(titles);
    expect(items.every((item) => String(item.id).startsWith("urn:uuid:") && !("url" in item))).toBe(true);
    const { entry } = await atomOf("/feeds/GB.atom");
    expect(entry.every(({ link, content }) => link === undefined && content !== undefined)).toBe(true); // section 4.1.2
    // biome-ignore lint/suspicious/noControlCharactersInRegex: XML has no way to write these
    const writable = (title: string) => title.replace(/[\x01-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, "\ufffd");
    const asRead = (title: string) => writable(title).replaceAll("\r\n", "\n").replaceAll("\r", "\n");
    expect(entry.map(({ title }) => asRead(title["#text"] ?? ""))).toEqual(titles.map(asRead));
  });
});

describe("the page about the lists", () => {
  const origin = new OriginForEachTest();

  async function elementsOf(target: string): Promise<Element[]> {
    return parseElements(await (await origin.ask(target)).text());
  }

  type Recorded = { sources?: object[]; removed_videos?: number; looks_counted?: number };

  /** The page's text, when the writer has recorded this of its generation. */
  async function read(recorded: Recorded, language = "en"): Promise<string> {
    const { sources, removed_videos: removed = null, looks_counted: counted = 0 } = recorded;
    origin.builder.publish([{ region: "GB", videos: videos(3) }]);
    const values = [sources === undefined ? null : JSON.stringify(sources), removed, counted];
    const record = "UPDATE generations SET sources = ?, removed_videos = ?, looks_counted = ?";
    origin.builder.database.run(record, values);
    await origin.open();
    const articles = named(await elementsOf("/about"), "article");
    return textOf(articles.find((article) => attribute(article, "lang") === language) as Element);
  }

  test("how the lists are made is told from what is in force, and takes no parameters", async () => {
    const sources = [
      { kind: "youtube", host: "www.googleapis.com" },
      { kind: "edge", host: null },
    ];
    const text = await read({ sources, removed_videos: 1234 });
    expect(text).toContain("one channel has at most 3 of the first 24 places");
    expect(text).toContain("6 hours, 24 hours, 7 days");
    expect(text).toContain(
      "YouTube’s charts (www.googleapis.com), what visitors see and open in these lists",
    );
    expect(text).toContain("1,234");
    expect((await origin.ask("/about?region=GB")).status).toBe(400);
  });

  test("what age means is a forecast's rule, or is learned from visitors where they are counted", async () => {
    const forecast = await read({});
    expect(forecast).toContain("the older a video is, the fewer are expected to watch it");
    expect(forecast).toContain("Videos whose views nobody counts come after the others, the newest first.");
    const learned = await read({ looks_counted: 1 });
    expect(learned).toContain("Its age, as far as visitors open newer videos more often");
    expect(learned).not.toMatch(/the older a video is|newest first/);
  });

  test("it says so in each language of the page", async () => {
    for (const language of pageLanguages) {
      const text = await read({ sources: [{ kind: "demo", host: null }], removed_videos: 1 }, language);
      expect(text).toContain(allMessages[language].sourceDemo);
      expect(text).toContain(formatsOf(language).duration(168));
      expect(text).not.toMatch(/[{}]/);
    }
  });

  test("it does not say what is not known", async () => {
    expect(await read({})).not.toMatch(/null|undefined|NaN/);
  });

  test("it decides whether the page tells what was looked at: where the writer asks the edge for it", async () => {
    const tells = async () => {
      const list = named(await elementsOf("/?region=GB"), "trendvault-list")[0];
      return list !== undefined && attribute(list, "views") !== null;
    };
    await read({ sources: [{ kind: "ndjson", host: null }] });
    expect(await tells()).toBe(false);
    await read({ sources: [{ kind: "edge", host: "trending.example" }] });
    expect(await tells()).toBe(true);
  });
});

describe("the reference of the API", () => {
  let builder: DatabaseBuilder;
  let origin: TestOrigin;

  beforeEach(async () => {
    builder = new DatabaseBuilder();
    builder.publish([]);
    origin = await openTestOrigin(builder.path);
  });
  afterEach(() => {
    origin.watcher.close();
    builder.remove();
  });

  test("the reference of the API is a signed page with a policy of its own", async () => {
    const { status, headers } = await origin.ask("/docs");
    expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(headers.get("content-security-policy")).toBe(`${policies.docs}; frame-ancestors 'none'`);
    expect(headers.get("signature")).toStartWith("tv=:");
    expect((await origin.ask("/docs?url=https://other.example")).status).toBe(400);
  });

  test("what is too large to be compressed well in a moment is compressed once", async () => {
    const html = await (await origin.ask("/docs")).text();
    const [script = ""] = /\/assets\/swagger-ui-bundle-\w+\.js/.exec(html) ?? [];
    for (const [path, tag] of [
      [script, /-br"$/],
      ["/docs", /-br-fast"$/],
    ] as const) {
      const { headers } = await origin.ask(path, { headers: { "accept-encoding": "br" } });
      expect(headers.get("etag")).toMatch(tag);
    }
  });

  test("the reference loads nothing but assets that are there, of which none names a map or is inline", async () => {
    const html = await (await origin.ask("/docs")).text();
    const paths = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path ?? "");
    expect(paths.filter((path) => !path.startsWith("/assets/"))).toEqual(["/openapi.json"]);
    expect(paths.length).toBe(7);
    for (const path of paths) {
      const asset = await origin.ask(path);
      expect([path, asset.status]).toEqual([path, 200]);
      expect(await asset.text()).not.toContain("sourceMappingURL=");
    }
    expect(html).not.toMatch(/<style|<script>| style=| on\w+=/);
  });
});

type Element = DefaultTreeAdapterTypes.Element;

/** Every element of a document, also in templates and so in shadow roots, as a browser's parser makes them. */
function parseElements(html: string): Element[] {
  const walk = (node: DefaultTreeAdapterTypes.Node): Element[] => {
    const content = "content" in node ? node.content.childNodes : [];
    const children = "childNodes" in node ? node.childNodes : [];
    return [...("tagName" in node ? [node] : []), ...[...children, ...content].flatMap(walk)];
  };
  return walk(parse(html));
}

function attribute({ attrs }: Element, name: string): string | null {
  return attrs.find((one) => one.name === name)?.value ?? null;
}

function textOf(node: DefaultTreeAdapterTypes.Node): string {
  if ("value" in node) return node.value;
  return "childNodes" in node ? node.childNodes.map(textOf).join("") : "";
}

/** Those with a tag. */
function named(elements: readonly Element[], tag: string): Element[] {
  return elements.filter(({ tagName }) => tagName === tag);
}

/** Those with a class. */
function classed(elements: readonly Element[], name: string): Element[] {
  return elements.filter((element) => attribute(element, "class")?.split(" ").includes(name));
}
