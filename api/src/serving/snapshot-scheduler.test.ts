import { afterEach, beforeEach, expect, test } from "bun:test";
import { DatabaseBuilder, videos } from "../../test-support/database-builder.ts";
import { openTestOrigin, type TestOrigin, testMinute } from "../../test-support/test-origin.ts";
import { until } from "../../test-support/until.ts";

let builder: DatabaseBuilder;
let origin: TestOrigin;

beforeEach(async () => {
  builder = new DatabaseBuilder();
  builder.publish([{ region: "GB", videos: videos(30) }]);
  origin = await openTestOrigin(builder.path);
});
afterEach(() => {
  origin.watch.close();
  builder.remove();
});

async function askGeneration(): Promise<number> {
  const page = (await (await origin.ask("/api/trending")).json()) as { generation: number };
  return page.generation;
}

test("a published generation is served 150 milliseconds after it was seen, ready or not", async () => {
  expect(await askGeneration()).toBe(1);
  builder.publish([{ region: "GB", videos: videos(30) }]);
  origin.pass(50); // sees it, and begins to build ahead; no turn of the event loop in between
  expect(origin.cache.snapshot?.generation.id).toBe(1);
  origin.pass(150);
  expect(await askGeneration()).toBe(2);
});

test("a generation begins as soon as what is requested is built, and then no request waits", async () => {
  await askGeneration();
  builder.publish([{ region: "GB", videos: videos(30) }]);
  origin.pass(50);
  await until(() => origin.cache.snapshot?.generation.id === 2);
  const response = await origin.ask("/api/trending");
  expect(response.headers.get("server-timing")).toBeNull();
  expect((await response.json()) as object).toMatchObject({ generation: 2 });
});

test("the answers of a minute are built before it begins", async () => {
  const first = await origin.ask("/api/trending", { headers: { "accept-encoding": "br" } });
  expect(first.headers.get("server-timing")).toStartWith("build;dur=");
  origin.pass(20_000); // second 50 of the minute
  const entry = origin.cache.lookUp("http://origin.test/api/trending");
  await until(() => entry?.prewarmedFor?.minute === testMinute + 1);
  origin.pass(10_000);
  const next = await origin.ask("/api/trending", { headers: { "accept-encoding": "br" } });
  expect(next.headers.get("server-timing")).toBeNull();
  expect(next.headers.get("etag")).not.toBe(first.headers.get("etag"));
});

test("an answer without a token stays the same bytes when the minute changes", async () => {
  const first = await origin.ask("/api/regions");
  origin.pass(60_000);
  expect((await origin.ask("/api/regions")).headers.get("etag")).toBe(first.headers.get("etag"));
});

test("first pages and the regions are, before a first request for them, served without the database", async () => {
  const { cache, lists } = origin;
  await until(() => cache.snapshot !== null && lists.isLoaded(cache.snapshot.generation));
  builder.database.run("UPDATE schema_migrations SET version = 99 WHERE version = 7");
  origin.pass(50);
  expect(origin.watch.degradedReason).toContain("schema is version 99");
  expect((await origin.ask("/api/trending?region=CZ&window=week&limit=3")).status).toBe(200);
  expect((await origin.ask("/api/regions")).status).toBe(200);
  const deep = await origin.ask("/api/trending?cursor=1-24");
  expect([deep.status, deep.headers.get("retry-after")]).toEqual([503, "5"]);
  expect(origin.logged.map(({ event }) => event)).toEqual(["database_unreadable"]);
});

test("what was requested before is signed anew every minute while the database cannot be read", async () => {
  const deep = "/api/trending?cursor=1-24";
  const before = await (await origin.ask(deep)).text();
  builder.database.run("UPDATE schema_migrations SET version = 99 WHERE version = 7");
  origin.pass(60_000);
  const after = await (await origin.ask(deep)).text();
  expect(after).not.toBe(before);
  expect(JSON.parse(after).items).toEqual(JSON.parse(before).items);
});
