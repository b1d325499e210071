import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  copyFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { DatabaseBuilder, videos } from "@trendvault/kit/database";
import { checkWholeList, startLoad } from "@trendvault/kit/load";
import { until } from "@trendvault/kit/machine";
import { OriginProcess } from "@trendvault/kit/origin-process";
import { oldestReadableVersion, supportedSchemaVersion } from "../src/database/schema-version.ts";
import { formatTime } from "../src/resources/resource.ts";

const lists = ["GB", "DE", "FR"].map((region) => ({ region, videos: videos(100, region) }));
const targets = ["/api/trending", "/api/trending?region=DE&limit=50", "/api/trending?region=FR&limit=7"];

let origin: OriginProcess;
let builder: DatabaseBuilder;
let good: string;

beforeAll(async () => {
  builder = new DatabaseBuilder();
  builder.publish(lists);
  builder.database.run("PRAGMA journal_mode = DELETE"); // one file, to be copied and renamed
  builder.database.close();
  good = `${builder.folder}/good.db`;
  copyFileSync(builder.path, good);
  inDatabase(builder.path, "PRAGMA journal_mode = WAL");
  origin = await OriginProcess.start(builder.path);
});

afterAll(async () => {
  await origin.remove();
  rmSync(builder.folder, { recursive: true });
});

const faults = [
  { name: "removed", reason: "there is no such file", cause: () => rmSync(builder.path) },
  { name: "truncated", reason: "damaged", cause: () => truncateSync(builder.path, 5000) },
  {
    name: "filled with garbage",
    reason: "not a SQLite database",
    cause: () => writeFileSync(builder.path, new Uint8Array(statSync(builder.path).size).fill(0x5a)),
  },
  {
    name: "replaced by one of a newer schema",
    reason: "its schema is version 99",
    cause: () => replace("INSERT INTO schema_migrations VALUES (99, 'x', 'x', 0)"),
  },
  {
    name: "replaced by something else",
    reason: "not a migrated TrendVault database",
    cause: () => replace("DROP TABLE schema_migrations"),
  },
  {
    name: "migrated to a newer schema in place",
    reason: "its schema is version 99",
    cause: () => inDatabase(builder.path, "INSERT INTO schema_migrations VALUES (99, 'x', 'x', 0)"),
  },
  {
    name: "replaced by a link to itself",
    reason: "too many symbolic links",
    cause: () => {
      rmSync(builder.path);
      symlinkSync(builder.path, builder.path);
    },
  },
  { name: "locked", reason: "locked by another process", cause: lockReplacement },
  {
    name: "left without its -wal and -shm",
    reason: null,
    cause: () => {
      rmSync(`${builder.path}-wal`);
      rmSync(`${builder.path}-shm`);
    },
  },
];

test.each(faults)(
  "the database $name: the last good generation is served, and a good file is used again",
  async ({ cause, reason }) => {
    const load = startLoad(origin.url, { connections: 16, targets, check: checkWholeList });
    await until(() => load.result.answers > 200);
    cause();
    if (reason !== null) {
      await until(async () => (await origin.readiness()).reasons.join().includes(reason));
      expect((await origin.readiness()).status).toBe("degraded");
    }
    const { answers } = load.result;
    await until(() => load.result.answers > answers + 200);
    replace("PRAGMA journal_mode = WAL");
    await until(async () => (await origin.readiness()).status === "ok");
    const generatedAt = publishAnother();
    await until(async () => (await (await fetch(`${origin.url}api/trending`)).text()).includes(generatedAt));
    expect((await load.stop()).failures).toEqual([]);
  },
);

test.each([
  {
    name: "missing",
    make: () => {},
    sentence: "there is no such file; mount its volume, or make it with `writer migrate` or a follower",
  },
  {
    name: "garbage",
    make: (path: string) => writeFileSync(path, "x".repeat(9000)),
    sentence: "not a SQLite database",
  },
  {
    name: "empty",
    make: (path: string) => writeFileSync(path, ""),
    sentence: "not a migrated TrendVault database",
  },
  {
    name: "truncated",
    make: (path: string) => {
      copyFileSync(good, path);
      truncateSync(path, 20_000);
    },
    sentence: "damaged",
  },
  {
    name: "of a newer schema",
    make: (path: string) => {
      copyFileSync(good, path);
      inDatabase(path, "INSERT INTO schema_migrations VALUES (99, 'x', 'x', 0)");
    },
    sentence: `its schema is version 99, this origin reads versions ${oldestReadableVersion} to ${supportedSchemaVersion}; update the origin`,
  },
  {
    name: "of an older schema",
    make: (path: string) => {
      copyFileSync(good, path);
      inDatabase(path, "UPDATE OR REPLACE schema_migrations SET version = 3");
    },
    sentence: `its schema is version 3, this origin reads versions ${oldestReadableVersion} to ${supportedSchemaVersion}; run writer migrate`,
  },
])(
  "a database that is $name at start is one clear sentence and a non-zero exit",
  async ({ make, sentence }) => {
    const path = `${builder.folder}/start.db`;
    rmSync(path, { force: true });
    make(path);
    const { code, stderr } = await OriginProcess.refuse(path);
    expect(code).not.toBe(0);
    expect(stderr.trim()).toContain(sentence);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  },
);

function replace(sql: string): void {
  const path = `${builder.folder}/next.db`;
  copyFileSync(good, path);
  inDatabase(path, sql);
  for (const suffix of ["-wal", "-shm"]) rmSync(builder.path + suffix, { force: true });
  renameSync(path, builder.path);
}

// In rollback mode a writer's exclusive lock keeps readers out; in WAL mode there is no such lock.
function lockReplacement(): void {
  replace("PRAGMA journal_mode = DELETE");
  locker = new Database(builder.path);
  locker.run("PRAGMA busy_timeout = 60000"); // the origin may be reading
  locker.run("BEGIN EXCLUSIVE");
}
let locker: Database | null = null;

function inDatabase(path: string, sql: string): void {
  const database = new Database(path);
  database.run(sql);
  database.close();
}

// Returns the time of publication, which no other generation has.
function publishAnother(): string {
  locker?.close();
  const writer = new DatabaseBuilder(builder.path);
  publishedAt += 60;
  writer.publish(lists, publishedAt);
  writer.database.close();
  return formatTime(publishedAt);
}
let publishedAt = 1_795_171_200;
