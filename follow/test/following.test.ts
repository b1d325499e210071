import { afterEach, beforeEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { videos } from "../../api/test-support/database-builder.ts";
import { TestFollower } from "../test-support/test-follower.ts";
import { TestPublisher, usualLists } from "../test-support/test-publisher.ts";
import { TestStore } from "../test-support/test-store.ts";

let store: TestStore;
let publisher: TestPublisher;
let followers: TestFollower[];

beforeEach(async () => {
  store = await TestStore.create();
  publisher = await TestPublisher.create(store);
  followers = [];
});

afterEach(async () => {
  for (const follower of followers) await follower.end();
  await store.remove();
});

function start(env: Record<string, string> = {}, options = {}): TestFollower {
  const follower = new TestFollower({
    addresses: [store.address],
    env: { ...store.settings, ...(env.FOLLOW_JWKS_FILE ? {} : { FOLLOW_JWKS: publisher.jwks }), ...env },
    ...options,
  });
  followers.push(follower);
  return follower;
}

test("a follower starts from nothing with the newest generation, then takes the older ones", async () => {
  for (let count = 0; count < 12; count++) await publisher.publish();
  const follower = start();
  expect(await follower.poll()).toBeNull();
  expect(follower.generations()).toEqual([112]);
  await follower.settle();
  expect(follower.generations()).toEqual([101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112]);
  expect(follower.events()).not.toContain("history_differs");
});

test("a new generation is added to those that are there", async () => {
  const follower = start();
  for (let count = 1; count <= 3; count++) {
    await publisher.publish();
    expect(await follower.poll()).toBeNull();
  }
  expect(follower.generations()).toEqual([101, 102, 103]);
  const ranks = follower.query<{ ranks: number }>(
    "SELECT count(*) AS ranks FROM trending GROUP BY generation, region",
  );
  expect(ranks.map((row) => row.ranks)).toEqual([30, 30, 30, 30, 30, 30]);
});

test("while nothing is new, the store is asked for the pointer only, and says 304", async () => {
  const follower = start();
  await publisher.publish();
  await follower.settle();
  store.requests.length = 0;
  await follower.poll();
  await follower.poll();
  expect(store.requests).toEqual([
    { name: "current.json", status: 304 },
    { name: "current.json", status: 304 },
  ]);
});

test("generations leave the file with the retention, and videos with the last that lists them", async () => {
  const follower = start({ FOLLOW_RETENTION_SECONDS: "120" });
  await publisher.publish({ lists: [{ region: "GB", videos: videos(3, "old") }] });
  for (let count = 0; count < 5; count++) {
    await follower.poll();
    await publisher.publish();
  }
  await follower.settle();
  expect(follower.generations()).toEqual([103, 104, 105, 106]);
  expect(follower.query("SELECT id FROM videos WHERE id GLOB 'old*'")).toEqual([]);
  expect(follower.query("SELECT id FROM videos")).toHaveLength(30);
  expect(follower.query("PRAGMA quick_check")).toEqual([{ quick_check: "ok" }]);
});

test("generations that were published in an outage are added afterwards", async () => {
  const follower = start();
  await publisher.publish();
  await follower.settle();
  for (let count = 0; count < 20; count++) await publisher.publish();
  await follower.poll();
  expect(follower.generations()).toEqual([101, 121]);
  await follower.settle();
  expect(follower.generations()).toHaveLength(21);
});

test("what is thinned in the store is left out, without a word of failure", async () => {
  const pointer = await publisher.publish();
  await publisher.publish();
  store.delete(`generations/101-${pointer.file.sha256}.db.gz`);
  const follower = start();
  await follower.settle();
  expect(await follower.poll()).toBeNull();
  expect(follower.generations()).toEqual([102]);
});

test("a follower that starts again downloads nothing that it has", async () => {
  await publisher.publish();
  await publisher.publish();
  const first = start();
  await first.settle();
  await first.end({ keep: true });
  followers = [];
  store.requests.length = 0;
  const second = start({}, { folder: first.folder });
  await second.settle();
  expect(second.generations()).toEqual([101, 102]);
  expect(store.requests.filter(({ name }) => name.startsWith("generations/"))).toEqual([]);
});

test("a removal takes effect in all generations of the file, and so does its end", async () => {
  const follower = start();
  await publisher.publish();
  await follower.poll();
  const versions = async () => {
    await follower.poll();
    return follower.query<{ version: number }>("SELECT version FROM removals_version")[0]?.version;
  };
  const before = await versions();
  await publisher.publish({ removed: ["video3"] });
  const after = await versions();
  expect(after).not.toBe(before as number);
  expect(follower.query("SELECT kind, name FROM removals")).toEqual([{ kind: "video", name: "video3" }]);
  await publisher.publish();
  await follower.poll();
  expect(follower.query("SELECT name FROM removals")).toEqual([]);
});

test("the newest description of a video is the one that all generations show", async () => {
  const follower = start();
  for (const title of ["before", "after"]) {
    await publisher.publish({ lists: [{ region: "GB", videos: [{ id: "one", title }] }] });
    await follower.poll();
  }
  expect(follower.query("SELECT title FROM videos")).toEqual([{ title: "after" }]);
  const late = start();
  await late.settle(); // takes the newest first, and the older one afterwards
  expect(late.generations()).toEqual([101, 102]);
  expect(late.query("SELECT title FROM videos")).toEqual([{ title: "after" }]);
});

test("a new key is taken from the file without a new start", async () => {
  const old = publisher;
  await publisher.publish();
  const follower = start({ FOLLOW_JWKS_FILE: keyFile(old.jwks) });
  await follower.poll();
  publisher = await TestPublisher.create(store, { generation: old.generation });
  publisher.bytes = old.bytes;
  await publisher.publish();
  expect(await follower.poll()).toBe("unknown_key");
  expect(follower.generations()).toEqual([101]);
  keyFile(JSON.stringify({ keys: [old.signer.publicKey, publisher.signer.publicKey] }));
  expect(await follower.poll()).toBeNull();
  expect(follower.generations()).toEqual([101, 102]);
});

function keyFile(text: string): string {
  const path = store.path("jwks");
  writeFileSync(path, text);
  return path;
}

test("a history that differs from what was read before is said, with both signed pointers", async () => {
  const follower = start();
  const first = await publisher.publish();
  await follower.poll();
  publisher.bytes = await publisher.signer.signPointer({
    generation: 101,
    published_at: first.published_at,
    file: { ...first.file, bytes: 1 },
    previous: null,
  });
  await publisher.publish({ lists: usualLists() });
  expect(await follower.poll()).toBeNull();
  const said = follower.lines.find(({ event }) => event === "history_differs");
  expect(JSON.parse(String(said?.accepted_before))).toEqual(first);
  expect(JSON.parse(String(said?.accepted_now)).generation).toBe(102);
});

test("metrics say what is held, how late it came, and what was asked", async () => {
  const follower = start();
  await publisher.publish({ signedAt: Date.now() - 4000 });
  await follower.settle();
  const text = follower.metrics.text();
  const metric = (name: string) =>
    Number(new RegExp(`^trendvault_follow_${name}\\{store="${store.address}"\\} (.*)$`, "m").exec(text)?.[1]);
  expect(metric("generation")).toBe(101);
  expect(metric("lag_seconds")).toBeGreaterThanOrEqual(3.9);
  expect(metric("adopted_total")).toBe(1);
  expect(metric("requests_total")).toBe(store.requests.length);
  expect(metric("received_bytes_total")).toBeGreaterThan(1000);
});
