import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { regionCodes } from "@trendvault/contract/regions";
import { DatabaseBuilder, listMigrations, videos } from "@trendvault/kit/database";
import { drawsOf, Random, testSeed } from "@trendvault/kit/random";
import { DatabaseUnusable } from "./database-files.ts";
import { canRead, oldestReadableVersion, supportedSchemaVersion } from "./schema-version.ts";
import { placesSql, Store } from "./store.ts";

let builder: DatabaseBuilder;
beforeEach(() => {
  builder = new DatabaseBuilder();
});
afterEach(() => builder.remove());

test("the supported schema is the newest migration, and what the changelog says", () => {
  expect(supportedSchemaVersion).toBe(Math.max(...listMigrations().map(({ version }) => version)));
  const changes = readFileSync(join(import.meta.dir, "../../../CHANGELOG.md"), "utf8");
  expect(changes).toContain(`\n| database schema | ${supportedSchemaVersion} (`);
});

test("a missing file, another file and another schema are each one sentence", () => {
  const refusal = (path: string) => {
    try {
      Store.open(path);
    } catch (error) {
      expect(error).toBeInstanceOf(DatabaseUnusable);
      return (error as Error).message;
    }
    return "opened";
  };
  expect(refusal(`${builder.folder}/none.db`)).toContain("there is no such file");
  writeFileSync(`${builder.folder}/text.db`, "not a database, but long enough to look at ".repeat(50));
  expect(refusal(`${builder.folder}/text.db`)).toContain("not a SQLite database");
  builder.database.run(
    "UPDATE schema_migrations SET version = 99 WHERE version = (SELECT max(version) FROM schema_migrations)",
  );
  expect(refusal(builder.path)).toMatch(
    /schema is version 99, this origin reads versions \d+ to \d+; update the origin$/,
  );
});

test("it cannot write, whatever is asked of it", () => {
  builder.publish([{ region: "GB", videos: videos(2) }]);
  const store = Store.open(builder.path);
  expect(Object.keys(store)).not.toContain("database");
  expect(store.newestGeneration()?.id).toBe(1);
  store.close();
});

test("a list whose ranks have a gap is not served", () => {
  builder.publish([{ region: "GB", videos: videos(5) }]);
  builder.database.run("DELETE FROM trending WHERE rank = 3");
  const store = Store.open(builder.path);
  const query = { region: "GB", window: "day", limit: 24 } as const;
  expect(() => store.readListPage(query, { generation: 1, afterRank: 0 })).toThrow("gaps");
  store.close();
});

test("no parameter of a statement shows SQLite its value, for which it would be compiled anew", () => {
  builder.publish([{ region: "GB", videos: videos(5) }]);
  const query = spyOn(Database.prototype, "query");
  const store = Store.open(builder.path);
  let asked: string[] = [];
  try {
    askEverything(store, videos(1)[0]?.id ?? "");
    asked = query.mock.calls.map(([sql]) => sql.replace(/--.*/g, "").replace(/'[^']*'/g, "''"));
  } finally {
    query.mockRestore();
    store.close();
  }
  const statements = [...new Set(asked)].filter((sql) => sql.includes("?"));
  expect(statements.length).toBeGreaterThan(25);
  for (const part of ["AS hidden", "hourly_views", "AS known_since", "total(impressions)", "RECURSIVE"]) {
    expect(statements.filter((sql) => sql.includes(part))).not.toEqual([]);
  }
  expect(statements.filter((sql) => sql.replace(/\+\?\d*/g, "").includes("?"))).toEqual([]);
});

function askEverything(store: Store, id: string): void {
  const generation = store.newestGeneration({ at: 1 });
  if (generation === null) throw new Error("Nothing was published");
  const [region, window, limit] = ["GB", "day", 5] as const;
  const start = { generation: generation.id, afterRank: 0 };
  const readExplanations = () => {
    for (const key of [{ id }, { id, window: "week" as const }, { id: "none" }]) {
      store.readExplanation({ region, window, ...key }, generation.id);
    }
  };
  const tables = ["videos", "velocity", "observations", "trending_by_video"] as const;
  const asked: Record<Exclude<keyof Store, "path">, () => unknown> = {
    newestGeneration: () => store.newestGeneration(),
    dataVersion: () => store.dataVersion(),
    idBefore: () => store.idBefore(generation.id),
    regionAfter: () => store.regionAfter(generation.id, region),
    readLists: () => store.readLists(generation.id),
    countRanks: () => store.countRanks(generation.id, region, window),
    readListPage: () =>
      [{}, { fields: "chart" as const }, { titles: "de" }].map((more) =>
        store.readListPage({ region, window, limit, ...more }, start),
      ),
    readVideo: () => store.readVideo(id, generation),
    readListedVideos: () => store.readListedVideos(generation.id),
    hasVideo: () => store.hasVideo(id),
    hasTitles: () => store.hasTitles(generation.id, region),
    readExplanation: readExplanations,
    expectManyExplanations: () => [store.expectManyExplanations(), readExplanations()],
    readMetadata: () => store.readMetadata(generation.id),
    readSlice: () =>
      tables.map((table) => store.readSlice(table, { after: null, generation: generation.id })),
    requireSameRows: () => store.requireSameRows(generation.id),
    releaseMemory: () => store.releaseMemory(),
    close: () => {},
  };
  for (const ask of Object.values(asked)) ask();
}

test.each([
  [supportedSchemaVersion, 0, true],
  [oldestReadableVersion, 0, true],
  [oldestReadableVersion - 1, 0, false],
  [supportedSchemaVersion + 1, 0, false],
  [supportedSchemaVersion + 5, supportedSchemaVersion, true],
  [supportedSchemaVersion + 5, 1, true],
  [supportedSchemaVersion + 5, supportedSchemaVersion + 1, false],
])("a schema of version %p whose writer says %p can be read: %p", (version, oldestReader, expected) => {
  expect(canRead(version, oldestReader)).toBe(expected);
});

test("the places of a video are looked up by its id, not by reading the generation", () => {
  const builder = new DatabaseBuilder();
  const placed = { isOver: (at: string) => `trending.placed_until <= ${at}`, column: () => "NULL" };
  const plan = builder.database
    .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${placesSql("NULL", placed)}`)
    .all();
  builder.remove();
  expect(plan.map(({ detail }) => detail)).toEqual([
    "SEARCH trending USING INDEX trending_by_video (generation=? AND video_id=?)",
    "SEARCH generation_regions USING PRIMARY KEY (generation=? AND region=?)",
  ]);
});

type Published = { id: number; publishedAt: number; codes: readonly string[] };

const writers = 4;

/** Writers that share the regions, and now and then hand one to another. */
class Writers {
  readonly kept: Published[] = [];
  readonly #random: Random;
  readonly #owners = new Map(regionCodes.map((code, index) => [code, index % (writers + 1)])); // the last has no database
  readonly #last = Array.from({ length: writers }, (_, writer) => writer * 10_000);

  constructor(random: Random) {
    this.#random = random;
  }

  publish(builder: DatabaseBuilder): void {
    const writer = this.#random.below(writers);
    const codes = regionCodes.filter((code) => this.#owners.get(code) === writer);
    const id = 256 * Math.ceil(((this.#last[writer] ?? 0) + 1) / 256) + writer;
    this.#last[writer] = id;
    const publishedAt = 1_795_171_200 + this.#random.below(1000);
    builder.publishRegions([], { codes, id, publishedAt });
    this.kept.push({ id, publishedAt, codes });
  }

  move(): void {
    const code = regionCodes[this.#random.below(regionCodes.length)] ?? "";
    const to = this.#random.below(writers);
    const from = this.#owners.get(code) ?? 0;
    this.#last[to] = Math.max(this.#last[to] ?? 0, this.#last[from] ?? 0);
    this.#owners.set(code, to);
  }

  prune(builder: DatabaseBuilder): void {
    const [oldest] = this.kept.splice(this.#random.below(this.kept.length), 1);
    if (oldest !== undefined) builder.prune(oldest.id);
  }
}

test(`a region has the newest generation that has it, whoever published it (seed ${testSeed})`, () => {
  const random = new Random();
  const builder = new DatabaseBuilder();
  const store = Store.open(builder.path);
  const published = new Writers(random);
  for (let draw = 0; draw < drawsOf({ usual: 200, long: 5000 }); draw++) {
    const choice = random.below(10);
    if (choice === 0) published.move();
    else if (choice < 4) published.prune(builder);
    else published.publish(builder);
    const generation = store.newestGeneration();
    const newest = regionCodes.map((code) =>
      published.kept
        .filter(({ codes }) => codes.includes(code))
        .sort(byId)
        .at(-1),
    );
    expect(regionCodes.map((code) => generation?.regions.get(code)?.id)).toEqual(
      newest.map((one) => one?.id),
    );
    const all = [...new Set(newest)].filter((one) => one !== undefined);
    expect(generation?.rankings.map(({ id }) => id) ?? []).toEqual(
      all.map(({ id }) => id).sort((a, b) => a - b),
    );
    expect(generation?.publishedAt).toBe(
      all.length === 0 ? undefined : Math.max(...all.map(({ publishedAt }) => publishedAt)),
    );
    expectOldest(generation?.regions ?? new Map(), published.kept);
  }
  store.close();
  builder.remove();
});

function expectOldest(regions: ReadonlyMap<string, { oldestId: number }>, kept: Published[]): void {
  for (const [code, { oldestId }] of regions) {
    expect(oldestId).toBe(Math.min(...kept.filter(({ codes }) => codes.includes(code)).map(({ id }) => id)));
  }
}

function byId(left: Published, right: Published): number {
  return left.id - right.id;
}
