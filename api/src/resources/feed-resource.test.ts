import { beforeEach, describe, expect, test } from "bun:test";
import { Random } from "@trendvault/contract/test-support/random";
import { XMLParser, XMLValidator } from "fast-xml-parser";
import { hostileText } from "../../../web/client/test-support/hostile-text.ts";
import { videos } from "../../test-support/database-builder.ts";
import { OriginForEachTest } from "../../test-support/origin-for-each-test.ts";

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
};
type AtomFeed = {
  id: string;
  title: string;
  updated: string;
  link: Record<string, string>[];
  entry: AtomEntry[];
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

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const absolute = /^[a-z][a-z0-9+.-]*:\S+$/i;

describe("a feed", () => {
  beforeEach(async () => {
    origin.builder.publish([
      { region: "PL", videos: videos(60) },
      { region: "PL", window: "now", category: "Kids' TV", videos: videos(3) },
    ]);
    await origin.open({ VIDEO_URL: "https://site.example/watch/{id}" });
  });

  test("is the list of its market, in its language", async () => {
    const feed = JSON.parse(await textOf("/feeds/pl.json")) as JsonFeed;
    const list = (await (await origin.ask("/api/trending?region=PL&limit=50")).json()) as {
      items: { id: string; title: string; url: string }[];
      generated_at: string;
    };
    expect([feed.version, feed.language]).toEqual(["https://jsonfeed.org/version/1.1", "pl"]);
    expect(feed.title).toContain("Polska");
    expect(feed._trendvault.generated_at).toBe(list.generated_at);
    expect(feed.items.map(({ title, url }) => [title, url])).toEqual(
      list.items.map(({ title, url }) => [title, url]),
    );
    const { entry } = await atomOf("/feeds/PL.atom");
    expect(entry.map(({ title, link }) => [title["#text"], link?.["@href"]])).toEqual(
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
        content_text: expect.stringContaining(" "),
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
    expect(response.headers.get("content-location")).toBe("/feeds/PL.atom?window=now&category=Kids%27%20TV");
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
