import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newFolder } from "@trendvault/kit/machine";
import { removeDatabase } from "./up.ts";

const folder = newFolder("up");

test("a TrendVault database is deleted with its -wal and -shm", () => {
  const path = join(folder, "ours.db");
  const database = new Database(path, { create: true });
  database.run("CREATE TABLE schema_migrations (x); CREATE TABLE generations (x); CREATE TABLE trending (x)");
  database.close();
  writeFileSync(`${path}-wal`, "");
  removeDatabase(path);
  expect(["", "-wal", "-shm"].filter((suffix) => existsSync(path + suffix))).toEqual([]);
});

test.each([
  ["a text file", (path: string) => writeFileSync(path, "dear diary")],
  [
    "another program's database",
    (path: string) => new Database(path, { create: true }).run("CREATE TABLE photos (x)"),
  ],
])("%s is not deleted", (name, make) => {
  const path = join(folder, `${name}.db`);
  make(path);
  expect(() => removeDatabase(path)).toThrow("not a TrendVault database");
  expect(existsSync(path)).toBe(true);
});

test("a database that does not exist needs no deleting", () => {
  expect(() => removeDatabase(join(folder, "new.db"))).not.toThrow();
});
