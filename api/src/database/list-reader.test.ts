import { afterEach, beforeEach, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { windows } from "@trendvault/contract/lists";
import { DatabaseBuilder, videos } from "@trendvault/kit/database";
import { drawsOf, Random, testSeed } from "@trendvault/kit/random";
import { GenerationWatcher } from "./generation-watcher.ts";
import { ListReader } from "./list-reader.ts";
import type { Generation } from "./store.ts";

let builder: DatabaseBuilder;
beforeEach(() => {
  builder = new DatabaseBuilder();
});
afterEach(() => builder.remove());

function newestOf(watcher: GenerationWatcher): Generation {
  const generation = watcher.poll(0);
  if (generation === null) throw new Error("nothing was published");
  return generation;
}

const regions = ["GB", "DE"] as const;

test(`every list is of one moment, whenever titles change while it is loaded (seed ${testSeed})`, () => {
  const random = new Random();
  const list = { videos: videos(60).map((video) => ({ ...video, title: "unchanged" })) };
  builder.publish(regions.flatMap((region) => windows.map((window) => ({ region, window, ...list }))));
  for (let draw = 0; draw < drawsOf({ usual: 20, long: 400 }); draw++) {
    const watcher = new GenerationWatcher(builder.path);
    const generation = newestOf(watcher);
    const reader = new ListReader(watcher);
    let step = 0;
    for (const _ of reader.load(generation)) {
      if (random.below(2) === 0) builder.database.run("UPDATE videos SET title = ?", [`${draw} ${step++}`]);
    }
    for (const region of regions) {
      for (const window of windows) {
        const { rows } = reader.readFirstPage({ region, window, limit: 50 }, generation);
        expect([rows.length, new Set(rows.map(({ title }) => title)).size]).toEqual([50, 1]);
        const limit = 1 + random.below(50);
        const slice = reader.readFirstPage({ region, window, limit }, generation);
        expect(slice.rows).toEqual(rows.slice(0, limit));
      }
    }
    watcher.close();
  }
});

test("a first page that is kept is the page that was read, in whatever script its titles are", () => {
  const titles = ["Ελληνικά", "a 🎬", 'a "quote" \\', "\u2028\t", "a\ud800"];
  const titled = videos(20).map((video, index) => ({ ...video, title: titles[index % titles.length] ?? "" }));
  builder.publish([{ region: "GB", window: "now", videos: titled }]);
  const watcher = new GenerationWatcher(builder.path);
  const generation = newestOf(watcher);
  const query = { region: "GB", window: "now", limit: 50 } as const;
  const start = { generation: generation.id, afterRank: 0 };
  const read = watcher.read((store) => store.readListPage(query, start));
  expect(read?.rows.length).toBe(20);
  expect(new ListReader(watcher).readFirstPage(query, generation)).toStrictEqual(read as never);
  watcher.close();
});

test("the categories and kinds of a generation that was loaded are those of all its lists", () => {
  builder.publish([
    { region: "GB", videos: videos(3) },
    { region: "GB", window: "now", category: "music", videos: videos(2) },
    { region: "DE", window: "week", category: "sport", videos: videos(1) },
    { region: "DE", window: "week", videos: videos(1) },
    { region: "DE", window: "week", category: "#language:de", videos: videos(1) },
    { region: "DE", window: "now", category: "#language:en", videos: videos(1) },
    { region: "DE", window: "now", category: "#language:live=now", videos: videos(1) },
    { region: "GB", window: "now", category: "#language:duration=short", videos: videos(1) },
    { region: "GB", window: "now", category: "#language:duration=long", videos: videos(1) },
    { region: "GB", window: "now", category: "#language:another=kind", videos: videos(1) },
  ]);
  const watcher = new GenerationWatcher(builder.path);
  const generation = newestOf(watcher);
  const loaded = new ListReader(watcher);
  for (const _ of loaded.load(generation)) expect(loaded.isLoaded(generation)).toBeFalse();
  expect(loaded.isLoaded(generation)).toBeTrue();
  const choices = loaded.choicesOf(generation);
  expect([...choices.categories].sort()).toEqual(["music", "sport"]);
  expect(choices.listedIn("DE", "language")).toEqual(["de", "en"]);
  expect([choices.listedIn("DE", "live"), choices.listedIn("GB", "live")]).toEqual([["now"], []]);
  expect(choices.listedIn("GB", "duration")).toEqual(["long", "short"]);
  expect(choices).toEqual(new ListReader(watcher).choicesOf(generation));
  watcher.close();
});

const withTitles = () => {
  builder.publish(regions.map((region) => ({ region, videos: videos(3, region) })));
  builder.database.run("INSERT INTO details (video_id, titles) VALUES ('DE2', '{}')");
};

test("where lists have titles by language is read with the lists, and not again for a request", () => {
  withTitles();
  const watcher = new GenerationWatcher(builder.path);
  const generation = newestOf(watcher);
  const loaded = new ListReader(watcher);
  for (const _ of loaded.load(generation));
  builder.database.run("INSERT INTO details (video_id, titles) VALUES ('GB1', '{}')");
  expect(loaded.regionsWithTitles(generation)).toBe("DE");
  expect(new ListReader(watcher).regionsWithTitles(generation).split(" ").sort()).toEqual(["DE", "GB"]);
  watcher.close();
});

test("lists are served without titles by language where these are damaged", () => {
  withTitles();
  const sql =
    "SELECT (rootpage - 1) * page_size AS at, page_size AS size FROM sqlite_schema, pragma_page_size WHERE name = 'details_with_titles'";
  const { at, size } = builder.database.query<{ at: number; size: number }, []>(sql).get() ?? {
    at: 0,
    size: 0,
  };
  builder.database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  const bytes = readFileSync(builder.path);
  writeFileSync(builder.path, bytes.fill(0xff, at, at + size));
  const watcher = new GenerationWatcher(builder.path);
  const generation = newestOf(watcher);
  const loaded = new ListReader(watcher);
  expect(loaded.regionsWithTitles(generation)).toBe("");
  for (const _ of loaded.load(generation));
  expect([loaded.isLoaded(generation), loaded.regionsWithTitles(generation)]).toEqual([true, ""]);
  watcher.close();
});
