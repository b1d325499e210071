import { beforeEach, describe, expect, test } from "bun:test";
import { longestBody } from "@trendvault/contract/http";
import { Random } from "@trendvault/contract/test-support/random";
import { hostileText } from "../../../web/client/test-support/hostile-text.ts";
import { videos } from "../../test-support/database-builder.ts";
import {
  attribute,
  classed,
  type Element,
  named,
  parseElements,
  textOf,
} from "../../test-support/html-elements.ts";
import { OriginForEachTest } from "../../test-support/origin-for-each-test.ts";

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
    ]);
    await origin.open();
  });

  test("has the list in it, in the language of the market, with the same token as the list", async () => {
    const elements = await elementsOf("/?region=PL");
    expect(attribute(elements[0] as Element, "lang")).toBe("pl");
    expect(classed(elements, "title").map(textOf)).toEqual([1, 2, 3].map((n) => `Title of video${n}`));
    const data = elements.find((element) => attribute(element, "id") === "list-data") as Element;
    const { token, items } = JSON.parse(textOf(data));
    const list = (await (await origin.ask("/api/trending?region=PL&fields=chart")).json()) as {
      token: string;
    };
    expect(token).toBe(list.token);
    expect(items).toHaveLength(3);
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

  test("has a form that gives a valid URL for every market", async () => {
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
    expect(pictures[0]).toBe("https://thumbs.example/video1/hq.webp");
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
  const seeds = titles.map((title, index) => ({ id: `video${index}`, title, channel: title.slice(0, 200) }));
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
