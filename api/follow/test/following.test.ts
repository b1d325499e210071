import { expect, test } from "bun:test";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type DatabaseBuilder, videos } from "@trendvault/kit/database";
import { root } from "@trendvault/kit/machine";
import { FollowedStore } from "../test-support/test-follower.ts";
import { TestPublisher, usualLists } from "../test-support/test-publisher.ts";

const followed = FollowedStore.forEachTest();

test("a follower starts from nothing with the newest generation, then takes the older ones, each read once", async () => {
  for (let count = 0; count < 12; count++) await followed.publisher.publish();
  const follower = followed.start();
  expect(await follower.poll()).toBeNull();
  expect(follower.generations()).toEqual([112]);
  await follower.settle();
  expect(follower.generations()).toEqual([101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112]);
  expect(follower.events()).not.toContain("history_differs");
  const read = followed.store.requests.map(({ name }) => name).filter((name) => name !== "current.json");
  expect(read.toSorted()).toEqual([...new Set(read)].toSorted());
});

test("a new generation is added to those that are there", async () => {
  const follower = followed.start();
  for (let count = 1; count <= 3; count++) {
    await followed.publisher.publish();
    expect(await follower.poll()).toBeNull();
  }
  expect(follower.generations()).toEqual([101, 102, 103]);
  const ranks = follower.query<{ ranks: number }>(
    "SELECT count(*) AS ranks FROM trending GROUP BY generation, region",
  );
  expect(ranks.map((row) => row.ranks)).toEqual([30, 30, 30, 30, 30, 30]);
});

test("while nothing is new, the store is asked for the pointer only, and says 304", async () => {
  const follower = followed.start();
  await followed.publisher.publish();
  await follower.settle();
  followed.store.requests.length = 0;
  await follower.poll();
  await follower.poll();
  expect(followed.store.requests).toEqual([
    { name: "current.json", status: 304 },
    { name: "current.json", status: 304 },
  ]);
});

test("generations leave the file with the retention, and videos with the last that lists them", async () => {
  const follower = followed.start({ GENERATION_RETENTION_HOURS: String(120 / 3600) });
  await followed.publisher.publish({ lists: [{ region: "GB", videos: videos(3, "old") }] });
  for (let count = 0; count < 5; count++) {
    await follower.poll();
    await followed.publisher.publish();
  }
  await follower.settle();
  expect(follower.generations()).toEqual([103, 104, 105, 106]);
  expect(follower.query("SELECT id FROM videos WHERE id GLOB 'old*'")).toEqual([]);
  expect(follower.query("SELECT id FROM videos")).toHaveLength(30);
  expect(follower.query("PRAGMA quick_check")).toEqual([{ quick_check: "ok" }]);
});

test("a follower that starts from nothing takes no generation that has expired, however many are there", async () => {
  const now = Date.now();
  for (let minutes = 29; minutes >= 0; minutes--) {
    const signedAt = now - minutes * 60_000;
    await followed.publisher.publish({ signedAt, rankedAt: Math.floor(signedAt / 1000) });
  }
  const follower = followed.start({ GENERATION_RETENTION_HOURS: "0.2" }); // 12 minutes: more than are taken at once
  await follower.settle();
  const taken = followed.store.requests.filter(({ name }) => name.startsWith("generations/"));
  expect(taken).toHaveLength(13);
  expect(follower.generations()).toEqual(Array.from({ length: 13 }, (_, index) => 118 + index));
});

test("generations that were published in an outage are added afterwards", async () => {
  const follower = followed.start();
  await followed.publisher.publish();
  await follower.settle();
  for (let count = 0; count < 20; count++) await followed.publisher.publish();
  await follower.poll();
  expect(follower.generations()).toEqual([101, 121]);
  await follower.settle();
  expect(follower.generations()).toHaveLength(21);
});

test("what is thinned in the store is left out, without a word of failure", async () => {
  const pointer = await followed.publisher.publish();
  await followed.publisher.publish();
  followed.store.delete(`generations/101-${pointer.file.sha256}.db.gz`);
  const follower = followed.start();
  await follower.settle();
  expect(await follower.poll()).toBeNull();
  expect(follower.generations()).toEqual([102]);
});

test("a follower that starts again downloads nothing that it has", async () => {
  await followed.publisher.publish();
  await followed.publisher.publish();
  const first = followed.start();
  await first.settle();
  await first.end({ keep: true });
  followed.store.requests.length = 0;
  const second = followed.start({}, { folder: first.folder });
  await second.settle();
  expect(second.generations()).toEqual([101, 102]);
  expect(followed.store.requests.filter(({ name }) => name.startsWith("generations/"))).toEqual([]);
});

test("a removal takes effect in all generations of the file, and so does its end", async () => {
  const follower = followed.start();
  await followed.publisher.publish();
  await follower.poll();
  const versions = async () => {
    await follower.poll();
    return follower.query<{ version: number }>("SELECT version FROM removals_version")[0]?.version;
  };
  const before = await versions();
  await followed.publisher.publish({ removed: ["video3"] });
  const after = await versions();
  expect(after).not.toBe(before as number);
  expect(follower.query("SELECT kind, name FROM removals")).toEqual([{ kind: "video", name: "video3" }]);
  await followed.publisher.publish();
  await follower.poll();
  expect(follower.query("SELECT name FROM removals")).toEqual([]);
});

/** A generation that says when something was erased. */
const erased = (at: number) => ({
  prepare: ({ database }: DatabaseBuilder) => {
    database.run("INSERT INTO erased VALUES (zeroblob(32), ?)", [at]);
  },
});

test("what is from before something was erased leaves the file with the next generation, to the last byte", async () => {
  const follower = followed.start();
  const old = videos(30, "erased-video");
  await followed.publisher.publish({ lists: [{ region: "GB", videos: old }], rankedAt: 1_795_177_100 });
  await followed.publisher.publish({ rankedAt: 1_795_177_160 });
  await follower.settle();
  const isIn = () => readFileSync(follower.path).includes("erased-video");
  expect([follower.generations(), isIn()]).toEqual([[101, 102], true]);
  await followed.publisher.publish({ ...erased(1_795_177_160), rankedAt: 1_795_177_161 });
  await follower.settle();
  expect([follower.generations(), isIn()]).toEqual([[103], false]);
  await followed.publisher.publish({ ...erased(1_795_177_160), rankedAt: 1_795_177_220 });
  await follower.settle();
  expect(follower.generations()).toEqual([103, 104]);
});

test("nor does it come back to fill a gap, while the store still has it", async () => {
  const old = { lists: [{ region: "GB", videos: videos(30, "erased-video") }] };
  await followed.publisher.publish({ ...old, rankedAt: 1_795_177_160 });
  const early = followed.start();
  await early.settle();
  for (const rankedAt of [1_795_177_161, 1_795_177_220])
    await followed.publisher.publish({ ...erased(1_795_177_160), rankedAt });
  for (const follower of [early, followed.start()]) {
    await follower.settle();
    const isIn = readFileSync(follower.path).includes("erased-video");
    expect([follower.generations(), isIn]).toEqual([[102, 103], false]);
  }
});

test("the newest description of a video is the one that all generations show", async () => {
  const follower = followed.start();
  for (const title of ["before", "after"]) {
    await followed.publisher.publish({ lists: [{ region: "GB", videos: [{ id: "one", title }] }] });
    await follower.poll();
  }
  expect(follower.query("SELECT title FROM videos")).toEqual([{ title: "after" }]);
  const late = followed.start();
  await late.settle(); // takes the newest first, and the older one afterwards
  expect(late.generations()).toEqual([101, 102]);
  expect(late.query("SELECT title FROM videos")).toEqual([{ title: "after" }]);
});

test("a new key is taken from the file without a new start", async () => {
  const old = followed.publisher;
  await followed.publisher.publish();
  const follower = followed.start({ FOLLOW_JWKS: `file:${keyFile(old.jwks)}` });
  await follower.poll();
  followed.publisher = await TestPublisher.create(followed.store, { generation: old.generation });
  followed.publisher.bytes = old.bytes;
  await followed.publisher.publish();
  expect(await follower.poll()).toBe("unknown_key");
  expect(follower.generations()).toEqual([101]);
  keyFile(JSON.stringify({ keys: [old.signer.publicKey, followed.publisher.signer.publicKey] }));
  expect(await follower.poll()).toBeNull();
  expect(follower.generations()).toEqual([101, 102]);
});

test.each([
  ["is no JSON any more", (path: string) => writeFileSync(path, "{")],
  ["is gone", (path: string) => rmSync(path)],
  [
    "has only a part of each key",
    (path: string) => writeFileSync(path, partsOfKeys(readFileSync(path, "utf8"))),
  ],
])("while the file of the keys %s, those of before stay, and the log says so once", async (_, spoil) => {
  await followed.publisher.publish();
  const path = keyFile(followed.publisher.jwks);
  const follower = followed.start({ FOLLOW_JWKS: `file:${path}` });
  await follower.poll();
  spoil(path);
  for (let generation = 102; generation <= 103; generation++) {
    await followed.publisher.publish();
    expect(await follower.poll()).toBeNull();
    expect(follower.generations()).toContain(generation);
  }
  const said = () => follower.lines.filter(({ event }) => event === "keys_rejected");
  expect(said().map(({ message }) => message)).toEqual([expect.stringContaining(path)]);
  keyFile(followed.publisher.jwks);
  await followed.publisher.publish();
  expect(await follower.poll()).toBeNull();
  expect(said()).toHaveLength(1);
});

function partsOfKeys(jwks: string): string {
  return jwks.replaceAll(/(?<="x":")[^"]{9}/g, "");
}

function keyFile(text: string): string {
  const path = followed.store.path("jwks");
  writeFileSync(path, text);
  return path;
}

test("a history that differs from what was read before is said, with both signed pointers", async () => {
  const follower = followed.start();
  const first = await followed.publisher.publish();
  await follower.poll();
  followed.publisher.bytes = await followed.publisher.signer.signPointer({
    generation: 101,
    published_at: first.published_at,
    file: { ...first.file, bytes: 1 },
    previous: null,
  });
  await followed.publisher.publish({ lists: usualLists() });
  expect(await follower.poll()).toBeNull();
  const said = follower.lines.find(({ event }) => event === "history_differs");
  expect(JSON.parse(String(said?.accepted_before))).toEqual(first);
  expect(JSON.parse(String(said?.accepted_now)).generation).toBe(102);
});

test("metrics say what is held, how late it came, and what was asked", async () => {
  const begun = Date.now();
  let now = begun;
  const follower = followed.start({}, { clock: () => (now += 200) });
  followed.store.clockSeconds = 40;
  const { file, published_at } = await followed.publisher.publish({ signedAt: begun - 4000 });
  await follower.settle();
  const text = await follower.metrics.text();
  const metric = (name: string) =>
    Number(
      new RegExp(`^trendvault_follow_${name}\\{store="${followed.store.address}"\\} (.*)$`, "m").exec(
        text,
      )?.[1],
    );
  expect(metric("generation")).toBe(101);
  expect(metric("published_timestamp_seconds")).toBe(Date.parse(published_at) / 1000);
  expect(metric("adopted_timestamp_seconds")).toBeWithin(
    Math.floor(begun / 1000),
    metric("read_timestamp_seconds") + 1,
  );
  expect(metric("read_timestamp_seconds")).toBeWithin(Math.floor(begun / 1000) + 1, now / 1000 + 1);
  expect(metric("lag_seconds")).toBeWithin(4, (now - begun) / 1000 + 5);
  expect(metric("build_seconds")).toBeWithin(0.2, (now - begun) / 1000 + 0.001);
  expect(metric("clock_difference_seconds")).toBeWithin(30, 400);
  expect(metric("adopted_total")).toBe(1);
  expect(metric("requests_total")).toBe(followed.store.requests.length);
  expect(metric("received_bytes_total")).toBeWithin(file.bytes, file.bytes + 10_000);
  const guide = readFileSync(join(root, "docs/operations/scale.md"), "utf8");
  const [, documented = ""] = /begin with `trendvault_follow_`([^.]*)\./.exec(guide) ?? [];
  const names = [...text.matchAll(/^# TYPE trendvault_follow_(\w+)/gm)].map(([, name]) => name);
  expect([...names, "failing", "failures_total", "store", "reason"].sort()).toEqual(
    [...documented.matchAll(/`(\w+)`/g)].map(([, name]) => name).sort(),
  );
});
