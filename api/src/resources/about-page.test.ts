import { expect, test } from "bun:test";
import { videos } from "../../test-support/database-builder.ts";
import { attribute, type Element, named, parseElements, textOf } from "../../test-support/html-elements.ts";
import { OriginForEachTest } from "../../test-support/origin-for-each-test.ts";

const origin = new OriginForEachTest();

async function elementsOf(target: string): Promise<Element[]> {
  return parseElements(await (await origin.ask(target)).text());
}

type Recorded = { sources?: object[]; removed_videos?: number };

/** The page's text, when the writer has recorded this of its generation. */
async function read({ sources, removed_videos }: Recorded): Promise<string> {
  origin.builder.publish([{ region: "GB", videos: videos(3) }]);
  const values = [sources === undefined ? null : JSON.stringify(sources), removed_videos ?? null];
  origin.builder.database.run("UPDATE generations SET sources = ?, removed_videos = ?", values);
  await origin.open();
  return textOf(named(await elementsOf("/about"), "main")[0] as Element);
}

test("how the lists are made is told from what is in force, and takes no parameters", async () => {
  const sources = [
    { kind: "youtube", host: "www.googleapis.com" },
    { kind: "edge", host: null },
  ];
  const text = await read({ sources, removed_videos: 1234 });
  expect(text).toContain("at most 3 videos of one channel are within the first 24 ranks");
  expect(text).toContain("now: 6 hours, day: 24 hours, week: 7 days");
  expect(text).toContain("YouTube's charts (www.googleapis.com), looks and openings of these lists");
  expect(text).toContain("1,234");
  expect((await origin.ask("/about?region=GB")).status).toBe(400);
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
