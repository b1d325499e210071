import { afterEach, beforeEach, expect, test } from "bun:test";
import { DatabaseBuilder, videos } from "@trendvault/kit/database";
import { until } from "@trendvault/kit/machine";
import { openTestOrigin, type TestOrigin, testMinute, testTime } from "@trendvault/kit/origin";

let builder: DatabaseBuilder;
let origin: TestOrigin;

beforeEach(async () => {
  builder = new DatabaseBuilder();
  builder.publish([{ region: "GB", videos: videos(30) }]);
  origin = await openTestOrigin(builder.path);
});
afterEach(() => {
  origin.watcher.close();
  builder.remove();
});

async function askTwice(target: string): Promise<void> {
  for (const _ of [1, 2]) await (await origin.ask(target)).text();
}

async function askGeneration(): Promise<number> {
  const page = (await (await origin.ask("/api/trending")).json()) as { generation: number };
  return page.generation;
}

test("a generation is served as soon as it was read, and no request waits for what was asked for twice", async () => {
  await askTwice("/api/trending");
  builder.publish([{ region: "GB", videos: videos(30) }]);
  const generation = origin.watcher.poll(testTime);
  if (generation !== null) readAll(origin.lists.load(generation));
  origin.pass(20); // sees it, and begins to build; no turn of the event loop in between
  expect(origin.cache.snapshot?.generation.id).toBe(2);
  const before = await origin.ask("/api/trending");
  expect(before.headers.get("server-timing")).toBeNull();
  expect((await before.json()) as object).toMatchObject({ generation: 1 });
  expect((await (await origin.ask("/api/trending?limit=7")).json()) as object).toMatchObject({
    generation: 2,
  });
  await until(async () => {
    const response = await origin.ask("/api/trending");
    expect(response.headers.get("server-timing")).toBeNull();
    return ((await response.json()) as { generation: number }).generation === 2;
  });
});

test("no answer of the generation before is served for more than two seconds", async () => {
  await askTwice("/api/trending");
  builder.publish([{ region: "GB", videos: videos(30) }]);
  const generation = origin.watcher.poll(testTime);
  if (generation !== null) readAll(origin.lists.load(generation));
  origin.pass(20);
  origin.pass(2000); // without a turn of the event loop, nothing was built
  expect(await askGeneration()).toBe(2);
});

test("a generation that was deleted before it was read is forgotten with the next one", async () => {
  await Promise.all([5, 6, 7, 8].map((limit) => origin.ask(`/api/trending?limit=${limit}`))); // are built ahead
  builder.prune(1);
  await until(() => origin.origin.degradedReason !== null || cacheIsLoaded()); // the latter on a slow machine
  origin.pass(50);
  builder.publish([{ region: "GB", videos: videos(30) }]);
  while (origin.cache.snapshot?.generation.id !== 2) {
    origin.pass(5);
    await new Promise(setImmediate);
  }
  await Bun.sleep(50); // what was begun for the one before is tried meanwhile
  await passUntil(() => origin.watcher.degradedReason === null);
  expect(origin.origin.degradedReason).toBeNull();
});

test("a clock that is set back does not put off what is tried again", async () => {
  publishAtOnce(() =>
    builder.database.run("UPDATE trending SET rank = 99 WHERE generation = 2 AND rank = 3"),
  );
  origin.pass(50);
  await until(() => origin.origin.degradedReason !== null);
  builder.database.run("UPDATE trending SET rank = 3 WHERE generation = 2 AND rank = 99");
  origin.pass(-86_400_000);
  await passUntil(() => origin.cache.snapshot?.generation.id === 2);
  await passUntil(() => origin.origin.degradedReason === null);
});

// What a crash or a full disk may leave: nothing here is a generation that the writer would publish.
const damages = [
  {
    name: "a list with a gap",
    sql: "DELETE FROM trending WHERE generation = 2 AND rank = 3",
    reason: "gaps",
  },
  {
    name: "a gap on a later page",
    sql: "DELETE FROM trending WHERE generation = 2 AND rank = 29",
    reason: "gaps",
  },
  { name: "no list of a region", sql: "DELETE FROM trending WHERE generation = 2", reason: "no list of GB" },
];

test.each(damages)("a generation with $name leaves the one before served", async ({ sql, reason }) => {
  publishAtOnce(() => builder.database.run(sql));
  origin.pass(50);
  await until(() => origin.origin.degradedReason !== null);
  expect(origin.origin.degradedReason).toStartWith("Generation 2 is damaged: ");
  expect(origin.origin.degradedReason).toContain(reason);
  expect((await origin.ask("/api/trending?cursor=1-24")).status).toBe(200);
  expect(await askGeneration()).toBe(1);
  builder.publish([{ region: "GB", videos: videos(30) }]);
  await passUntil(() => origin.cache.snapshot?.generation.id === 3);
  await passUntil(() => origin.origin.degradedReason === null);
});

test("a damaged generation is tried again, and served when it is whole", async () => {
  publishAtOnce(() =>
    builder.database.run("UPDATE trending SET rank = 99 WHERE generation = 2 AND rank = 3"),
  );
  origin.pass(50);
  await until(() => origin.origin.degradedReason !== null);
  builder.database.run("UPDATE trending SET rank = 3 WHERE rank = 99");
  await passUntil(() => origin.cache.snapshot?.generation.id === 2);
  await passUntil(() => origin.origin.degradedReason === null);
});

test("after a start with a damaged generation the one before is served", async () => {
  publishAtOnce(() => builder.database.run("DELETE FROM trending WHERE generation = 2 AND rank = 3"));
  publishAtOnce(() => builder.database.run("DELETE FROM trending WHERE generation = 3"));
  const other = await openTestOrigin(builder.path);
  await until(() => other.cache.snapshot?.generation.id === 1);
  expect(other.origin.degradedReason).toStartWith("Generation 3 is damaged: ");
  other.watcher.close();
});

test("when the last generation is deleted, what is in memory is served on", async () => {
  await until(cacheIsLoaded);
  await askGeneration();
  builder.database.run("DELETE FROM generations");
  origin.pass(50);
  expect(origin.origin.degradedReason).toEndWith("it has no generation any more");
  origin.pass(60_000);
  expect(await askGeneration()).toBe(1);
  expect((await origin.ask("/api/trending?region=DE&window=now")).status).toBe(200);
  expect((await origin.ask("/api/videos/video1")).status).toBe(503); // its ranks are not known any more
  builder.publish([{ region: "GB", videos: videos(30) }]);
  await passUntil(() => origin.cache.snapshot?.generation.id === 2);
  await passUntil(() => origin.origin.degradedReason === null);
});

/** Publishes a generation that is changed before anybody sees it. */
function publishAtOnce(change: () => void): void {
  builder.database.transaction(() => {
    builder.publish([{ region: "GB", videos: videos(30) }]);
    change();
  })();
}

/** Lets time pass until a condition holds. */
async function passUntil(condition: () => boolean): Promise<void> {
  await until(() => {
    origin.pass(100);
    return condition();
  });
}

function cacheIsLoaded(): boolean {
  const { cache, lists } = origin;
  return cache.snapshot !== null && lists.isLoaded(cache.snapshot.generation);
}

function readAll(steps: Iterable<void>): void {
  for (const _ of steps);
}

test("the answers of a minute are built before it begins", async () => {
  const init = { headers: { "accept-encoding": "br" } };
  const first = await origin.ask("/api/trending", init);
  await origin.ask("/api/trending", init);
  expect(first.headers.get("server-timing")).toStartWith("build;dur=");
  origin.pass(20_000); // second 50 of the minute
  const entry = origin.cache.lookUp("/api/trending");
  await until(() => entry?.prewarmedFor?.minute === testMinute + 1);
  origin.pass(10_000);
  const next = await origin.ask("/api/trending", init);
  expect(next.headers.get("server-timing")).toBeNull();
  expect(next.headers.get("etag")).not.toBe(first.headers.get("etag"));
});

test("an answer without a token stays the same bytes when the minute changes", async () => {
  const first = await origin.ask("/api/regions");
  origin.pass(60_000);
  expect((await origin.ask("/api/regions")).headers.get("etag")).toBe(first.headers.get("etag"));
});

test("first pages and the regions are, before a first request for them, served without the database", async () => {
  await until(cacheIsLoaded);
  builder.database.run("UPDATE OR REPLACE schema_migrations SET version = 99");
  origin.pass(50);
  expect(origin.watcher.degradedReason).toContain("schema is version 99");
  expect((await origin.ask("/api/trending?region=CZ&window=week&limit=3")).status).toBe(200);
  expect((await origin.ask("/api/regions")).status).toBe(200);
  const deep = await origin.ask("/api/trending?cursor=1-24");
  expect([deep.status, deep.headers.get("retry-after")]).toEqual([503, "5"]);
  expect(origin.logged.map(({ event }) => event)).toEqual(["database_unreadable"]);
});

test("what was requested before is signed anew every minute while the database cannot be read", async () => {
  const deep = "/api/trending?cursor=1-24";
  const before = await (await origin.ask(deep)).text();
  builder.database.run("UPDATE OR REPLACE schema_migrations SET version = 99");
  origin.pass(60_000);
  const after = await (await origin.ask(deep)).text();
  expect(after).not.toBe(before);
  expect(JSON.parse(after).items).toEqual(JSON.parse(before).items);
});

test("what nobody asks for again is let go of in the third minute, but not while the database cannot be read", async () => {
  const ask = (limit: number) => origin.ask(`/api/trending?limit=${limit}`);
  for (const limit of [5, 6, 7, 5, 6, 7]) await ask(limit);
  const kept = () => [origin.cache.size.entries, origin.cache.size.urls];
  origin.pass(60_000);
  origin.pass(60_000);
  expect(kept()).toEqual([3, 3]);
  await ask(7);
  origin.pass(60_000);
  expect(kept()).toEqual([1, 0]);
  builder.database.run("UPDATE OR REPLACE schema_migrations SET version = 99");
  for (let minute = 0; minute < 5; minute++) origin.pass(60_000);
  expect(kept()).toEqual([1, 0]);
});

test("what was asked for a thousand times is let go of five minutes after the last", async () => {
  for (let time = 0; time < 1000; time++) await origin.ask("/api/trending");
  const kept: number[] = [];
  for (let minute = 1; minute <= 5; minute++) {
    origin.pass(20_000); // second 50 of the minute
    await until(() => origin.cache.busiest(1).every((entry) => entry.prewarmedFor !== null));
    origin.pass(40_000);
    kept.push(origin.cache.size.entries);
  }
  expect(kept).toEqual([1, 1, 1, 1, 0]);
});
