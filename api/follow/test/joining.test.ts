import { afterEach, beforeEach, expect, test } from "bun:test";
import { type DatabaseBuilder, videos } from "@trendvault/kit/database";
import { until } from "@trendvault/kit/machine";
import { OriginProcess } from "@trendvault/kit/origin-process";
import { testStoreName } from "@trendvault/kit/signers";
import { TestFollower } from "../test-support/test-follower.ts";
import { TestPublisher } from "../test-support/test-publisher.ts";
import { TestStore } from "../test-support/test-store.ts";

let store: TestStore;
let britain: TestPublisher;
let germany: TestPublisher;
let followers: TestFollower[];

beforeEach(async () => {
  store = await TestStore.create();
  const part = (name: string) => ({
    write: (object: string, bytes: Uint8Array) => store.write(`${name}/${object}`, bytes),
  });
  const named = (name: string) => ({ name: `${testStoreName}/${name}` });
  britain = await TestPublisher.create(part("gb"), { generation: 100, ...named("gb") });
  germany = await TestPublisher.create(part("de"), { generation: 5000, ...named("de") });
  followers = [];
});

afterEach(async () => {
  for (const follower of followers.toReversed()) await follower.end();
  await store.remove();
});

function start(parts = ["gb", "de"], folder?: string): TestFollower {
  const keys = [britain, germany].map(({ signer }) => signer.publicKey);
  const follower = new TestFollower({
    addresses: parts.map((part) => `${store.address}/${part}`),
    env: {
      ...store.settings,
      FOLLOW_JWKS: JSON.stringify({ keys }),
      GENERATION_RETENTION_HOURS: String(120 / 3600),
    },
    ...(folder === undefined ? {} : { folder }),
  });
  followers.push(follower);
  return follower;
}

/** Of the newest one nothing more is said than its title. */
const prepare = ({ database }: DatabaseBuilder) =>
  database.run(`INSERT INTO details (video_id, tags) SELECT id, json_array(title) FROM videos
    WHERE id = 'shared' AND title <> 'newest'`);
const publishBritain = (title: string, signedAt = Date.now()) =>
  britain.publish({
    lists: [{ region: "GB", videos: [{ id: "shared", title }, ...videos(3, "gb")] }],
    ...{ signedAt, prepare },
  });
const publishGermany = (title: string, signedAt = Date.now()) =>
  germany.publish({
    lists: [{ region: "DE", videos: [{ id: "shared", title }, ...videos(3, "de")] }],
    ...{ signedAt, prepare },
  });

test("the generations of two stores are in one file, and an origin serves both", async () => {
  await publishBritain("one");
  await publishGermany("one");
  const follower = start();
  await follower.settle();
  expect(follower.generations()).toEqual([101, 5001]);
  const origin = await OriginProcess.start(follower.path);
  try {
    for (const [region, generation] of [
      ["GB", 101],
      ["DE", 5001],
    ] as const) {
      const answer = await fetch(`${origin.url}api/trending?region=${region}`);
      expect(await answer.json()).toMatchObject({ region, generation, count: 4 });
    }
    await until(async () => (await origin.readiness()).status === "ok");
  } finally {
    await origin.remove();
  }
});

test("a store that has nothing new keeps its newest generation, however many the other one has", async () => {
  await publishGermany("one");
  const follower = start();
  for (let count = 0; count < 6; count++) {
    await publishBritain("one");
    await follower.poll();
  }
  expect(follower.generations()).toEqual([103, 104, 105, 106, 5001]);
  expect(follower.query("PRAGMA quick_check")).toEqual([{ quick_check: "ok" }]);
});

test("of a video in both, the description of the store that published last is shown, in whatever order they are read", async () => {
  const now = Date.now();
  const described = "SELECT title, tags FROM videos LEFT JOIN details ON video_id = id WHERE id = 'shared'";
  await publishBritain("newer", now - 1000);
  await publishGermany("older", now - 60_000);
  for (const order of [
    [0, 1],
    [1, 0],
  ]) {
    const follower = start();
    for (const which of order) await follower.poll(which);
    expect(follower.query(described)).toEqual([{ title: "newer", tags: '["newer"]' }]);
  }
  await publishGermany("newest", now);
  const [follower] = followers as [TestFollower];
  await follower.poll();
  expect(follower.query(described)).toEqual([{ title: "newest", tags: null }]);
});

test("what one store takes down is down in both, until it is allowed again", async () => {
  const follower = start();
  const down = async () => {
    await follower.poll();
    return {
      names: follower
        .query<{ name: string }>("SELECT name FROM removals ORDER BY name")
        .map(({ name }) => name),
      version: follower.query<{ version: number }>("SELECT version FROM removals_version")[0]?.version ?? 0,
    };
  };
  await britain.publish({ lists: [{ region: "GB", videos: videos(3) }], removed: ["a"] });
  await germany.publish({ lists: [{ region: "DE", videos: videos(3) }], removed: ["b"] });
  const both = await down();
  expect(both.names).toEqual(["a", "b"]);
  await germany.publish({ lists: [{ region: "DE", videos: videos(3) }], removed: ["b", "c"] });
  const three = await down();
  expect(three.names).toEqual(["a", "b", "c"]);
  expect(three.version).not.toBe(both.version);
  await germany.publish({ lists: [{ region: "DE", videos: videos(3) }] });
  expect((await down()).names).toEqual(["a"]);
});

test("one store that fails does not hold the other one back", async () => {
  await publishGermany("one");
  const follower = start();
  expect(await follower.poll()).toBe("missing");
  await publishBritain("one");
  expect(await follower.poll()).toBeNull();
  store.fault = ({ name }) => (name.startsWith("gb/") ? new Response("x", { status: 500 }) : null);
  await publishGermany("two");
  expect(await follower.poll()).toBe("status");
  expect(follower.generations()).toEqual([101, 5001, 5002]);
});

test("two stores with the same number are refused, and the first stays", async () => {
  germany.generation = 100;
  await publishBritain("one");
  await publishGermany("one");
  const follower = start();
  expect(await follower.poll()).toBe("overlap");
  expect(follower.generations()).toEqual([101]);
});

test("with one key for both, what one has signed is not taken from the place of the other", async () => {
  const { signer } = britain;
  const writer = { write: (object: string, bytes: Uint8Array) => store.write(`de/${object}`, bytes) };
  germany = await TestPublisher.create(writer, { generation: 5000, signer, name: germany.name });
  await publishBritain("one");
  await publishGermany("one");
  const follower = start();
  await follower.settle();
  await publishBritain("two");
  for (const name of ["current.json", "pointers/102.json"])
    store.write(`de/${name}`, store.read(`gb/${name}`));
  expect(await follower.poll()).toBe("other_store");
  expect(follower.generations()).toEqual([101, 102, 5001]);
});

test("a store that is not followed any more leaves the file", async () => {
  await publishBritain("one");
  await publishGermany("one");
  const both = start();
  await both.settle();
  await both.end({ keep: true });
  const one = start(["gb"], both.folder);
  await publishBritain("two");
  await one.settle();
  expect(one.generations()).toEqual([101, 102]);
});

test("another store's generation does not empty the file where the one before had its number", async () => {
  const write = (object: string, bytes: Uint8Array) => store.write(`de/${object}`, bytes);
  germany = await TestPublisher.create({ write }, { generation: 100, name: `${testStoreName}/de` });
  await publishBritain("one");
  await publishGermany("one");
  const before = start(["gb"]);
  await before.settle();
  await before.end({ keep: true });
  const after = start(["de"], before.folder);
  expect(await after.poll()).toBe("older");
  expect(after.generations()).toEqual([101]);
  expect(after.query("SELECT DISTINCT region FROM trending")).toEqual([{ region: "GB" }]);
  await publishGermany("two");
  await after.settle();
  expect(after.query("SELECT DISTINCT region FROM trending")).toEqual([{ region: "DE" }]);
});

test("with the memory deleted, what is in the file stays until its store was read", async () => {
  await publishBritain("one");
  await germany.publish({ lists: [{ region: "DE", videos: videos(3) }], removed: ["b"] });
  const first = start();
  await first.settle();
  await first.end({ keep: true });
  Bun.spawnSync(["rm", `${first.path}.follow`]);
  const second = start(undefined, first.folder);
  await publishBritain("two");
  await second.poll(0);
  expect(second.generations()).toEqual([101, 102, 5001]);
  expect(second.query("SELECT name FROM removals")).toEqual([{ name: "b" }]);
  await second.settle();
  expect(second.query("SELECT name FROM removals")).toEqual([{ name: "b" }]);
});
