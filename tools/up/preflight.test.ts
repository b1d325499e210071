import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assertPortFree, assertReadable, removeDatabase } from "./preflight.ts";

const folder = mkdtempSync(join(tmpdir(), "trendvault-preflight-"));

test("a port in use is refused with what to do; once it is free it is accepted", async () => {
  const server = createServer();
  const port = await new Promise<number>((done) => {
    server.listen(0, "127.0.0.1", () => done((server.address() as { port: number }).port));
  });
  await expect(assertPortFree("127.0.0.1", { port, option: "--port" })).rejects.toThrow(
    `Port ${port} is in use: stop what listens there, or`,
  );
  await new Promise((done) => server.close(done));
  await assertPortFree("127.0.0.1", { port, option: "--port" });
});

test("a source that does not exist is refused by its path", () => {
  expect(() => assertReadable(join(folder, "none.ndjson"))).toThrow(/no source at .*none\.ndjson/);
});

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
