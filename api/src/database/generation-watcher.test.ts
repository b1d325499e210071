import { afterEach, beforeEach, expect, mock, spyOn, test } from "bun:test";
import { copyFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { DatabaseBuilder, videos } from "@trendvault/kit/database";
import { DatabaseUnreadable } from "./database-files.ts";
import { GenerationWatcher } from "./generation-watcher.ts";
import { Store } from "./store.ts";

let builder: DatabaseBuilder;
beforeEach(() => {
  builder = new DatabaseBuilder();
});
afterEach(() => {
  mock.restore();
  builder.remove();
});

function removeLog(path: string): void {
  for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
}

test("a published generation is seen at the next look, and stays the same object until the next one", () => {
  const watcher = new GenerationWatcher(builder.path);
  expect(watcher.poll(0)).toBeNull();
  builder.publish([{ region: "GB", videos: videos(2) }]);
  const first = watcher.poll(0);
  expect(first?.id).toBe(1);
  builder.database.run("INSERT INTO runs (command, started_at) VALUES ('ingest', 0)");
  expect(watcher.poll(0)).toBe(first);
  builder.publish([]);
  expect(watcher.poll(0)?.id).toBe(2);
  watcher.close();
});

test("a database replaced by rename is read from its new file", () => {
  builder.publish([]);
  const watcher = new GenerationWatcher(builder.path);
  expect(watcher.poll(0)?.id).toBe(1);
  const other = new DatabaseBuilder();
  for (let i = 0; i < 5; i++) other.publish([]);
  other.database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  other.database.close();
  builder.database.run("PRAGMA wal_checkpoint(TRUNCATE)"); // else the old log would be read over the new file
  renameSync(other.path, builder.path);
  removeLog(builder.path); // opening makes another one
  const open = spyOn(Store, "open");
  for (const now of [0, 20, 40]) expect(watcher.poll(now)?.id).toBe(5);
  expect(open).toHaveBeenCalledTimes(1);
  watcher.close();
});

test("a copy in its place is another generation, whatever its number: what is in memory may not be in it", () => {
  builder.publish([{ region: "GB", videos: videos(2) }]);
  builder.database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  const watcher = new GenerationWatcher(builder.path);
  const first = watcher.poll(0);
  expect(watcher.poll(1)).toBe(first);
  copyFileSync(builder.path, `${builder.path}.copy`);
  renameSync(`${builder.path}.copy`, builder.path);
  const again = watcher.poll(2);
  expect(again).toEqual(first);
  expect(again).not.toBe(first);
  watcher.close();
});

test.each([
  ["nothing", () => {}],
  ["a FIFO", () => expect(Bun.spawnSync(["mkfifo", builder.path]).exitCode).toBe(0)],
  ["a folder", () => mkdirSync(builder.path)],
  ["a device", () => symlinkSync("/dev/zero", builder.path)],
])("a removed database stays readable while %s is in its place, and the reason is said", (_name, replace) => {
  builder.publish([{ region: "GB", videos: videos(2) }]);
  const watcher = new GenerationWatcher(builder.path);
  const generation = watcher.poll(0);
  rmSync(builder.path);
  replace();
  for (const now of [10, 1000, 2000]) {
    expect(watcher.poll(now)).toBe(generation);
    expect(watcher.degradedReason).toMatch(
      /Cannot open .*: (there is no such file|it is not a regular file)/,
    );
    expect(watcher.read((store) => store.newestGeneration()?.id)).toBe(1);
  }
  watcher.close();
});

test.each<[string, (watcher: GenerationWatcher) => void]>([
  [
    "that lost its generations, when it has to be opened anew",
    (watcher) => {
      builder.database.run("DELETE FROM generations");
      watcher.reopen();
    },
  ],
  [
    "that was replaced by one without a generation",
    () => {
      const other = new DatabaseBuilder();
      other.database.close();
      renameSync(other.path, builder.path);
    },
  ],
  ["that was replaced by something else", () => writeFileSync(builder.path, "no database")],
])("a database %s is opened twice a second at last, and not with every look", (_name, fail) => {
  builder.publish([]);
  builder.database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  const watcher = new GenerationWatcher(builder.path);
  watcher.poll(0);
  fail(watcher);
  const open = spyOn(Store, "open");
  for (let now = 0; now < 1500; now += 20) expect(watcher.poll(now)?.id).toBe(1);
  expect(watcher.degradedReason).not.toBeNull();
  open.mockClear();
  for (let now = 1500; now < 6500; now += 20) watcher.poll(now);
  expectTwiceASecond(open.mock.calls.length);
  watcher.close();
});

const failToRead = () => {
  throw Object.assign(new Error("disk I/O error"), { code: "SQLITE_IOERR" });
};

test.each<[string, (watcher: GenerationWatcher) => void]>([
  ["a request", (watcher) => expect(() => watcher.read(failToRead)).toThrow(DatabaseUnreadable)],
  ["the watcher itself", () => spyOn(Store.prototype, "dataVersion").mockImplementation(failToRead)],
])("a database that can be opened, and not be read by %s, is opened twice a second", (_who, fail) => {
  builder.publish([]);
  const watcher = new GenerationWatcher(builder.path);
  watcher.poll(0);
  const open = spyOn(Store, "open");
  for (let now = 0; now < 6500; now += 20) {
    if (now === 1500) open.mockClear();
    watcher.poll(now);
    fail(watcher);
  }
  expectTwiceASecond(open.mock.calls.length);
  watcher.close();
});

/** Of 5 seconds. */
function expectTwiceASecond(calls: number): void {
  expect(calls).toBeGreaterThan(8);
  expect(calls).toBeLessThan(11);
}

test.each<[string, () => void]>([
  ["was there", () => {}],
  ["was removed", () => rmSync(builder.path)],
  ["was something else", () => writeFileSync(builder.path, "no database")],
])("after a database %s, one that is locked for a moment is read as soon as it is not", (_name, spoil) => {
  builder.publish([]);
  builder.database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  const watcher = new GenerationWatcher(builder.path);
  watcher.poll(0);
  spoil();
  for (let now = 0; now < 2000; now += 20) watcher.poll(now);
  const other = new DatabaseBuilder();
  for (const _ of [1, 2]) other.publish([]);
  other.database.run("PRAGMA journal_mode = DELETE");
  other.database.run("BEGIN EXCLUSIVE");
  renameSync(other.path, builder.path);
  removeLog(builder.path);
  expect(watcher.poll(2000)?.id).toBe(1);
  expect(watcher.degradedReason).toContain("locked");
  other.database.run("ROLLBACK");
  expect(watcher.poll(2020)?.id).toBe(2);
  expect(watcher.degradedReason).toBeNull();
  other.database.close();
  watcher.close();
});

test("a generation that somebody deleted without foreign keys is passed over, at both ends", () => {
  for (let generation = 1; generation <= 3; generation++)
    builder.publish([{ region: "GB", videos: videos(2) }]);
  builder.database.run("PRAGMA foreign_keys = OFF"); // as in sqlite3 on the command line
  builder.database.run("DELETE FROM generations WHERE id <> 2");
  const watcher = new GenerationWatcher(builder.path);
  const newest = watcher.poll(0);
  expect([newest?.id, newest?.regions.get("GB")?.oldestId]).toEqual([2, 2]);
  watcher.close();
});
