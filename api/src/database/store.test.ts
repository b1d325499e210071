import { afterEach, beforeEach, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseBuilder, listMigrations, videos } from "@trendvault/kit/database";
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
