import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { videos } from "../../api/test-support/database-builder.ts";
import { FollowFailure } from "../src/failure.ts";
import { storeFaults } from "../test-support/faults.ts";
import { SmallDisk } from "../test-support/small-disk.ts";
import { TestFollower } from "../test-support/test-follower.ts";
import { TestPublisher } from "../test-support/test-publisher.ts";
import { refusal, TestStore } from "../test-support/test-store.ts";

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

function start(options: Partial<ConstructorParameters<typeof TestFollower>[0]> = {}): TestFollower {
  const env = { ...store.settings, FOLLOW_JWKS: publisher.jwks, FOLLOW_TIMEOUT_SECONDS: "300" };
  const follower = new TestFollower({ addresses: [store.address], env, ...options });
  followers.push(follower);
  return follower;
}

describe("the file stays as it is, and is current again without a new start, when", () => {
  test.each(storeFaults)("$name", async ({ reason, happen, isInObject }) => {
    const follower = start();
    await publisher.publish();
    const before = await publisher.publish();
    await follower.settle();
    const bytes = follower.bytes();
    if (!isInObject && reason !== "older") await publisher.publish();
    await happen({ store, publisher, before });

    if (reason === "timeout") follower.timeoutSeconds = 0.5;
    for (let again = 0; again < 2; again++) expect(await follower.poll()).toBe(reason);
    expect(follower.bytes()).toBe(bytes);
    expect(readdirSync(follower.file.workFolder).filter((name) => name !== "spare.db")).toEqual([]);
    const { message } = follower.lines.at(-1) as { message: string };
    expect(message).toMatch(/^[^\n]{40,500}$/);

    store.fault = null;
    follower.timeoutSeconds = 300;
    if (reason === "unreachable") store.start();
    await publisher.publish();
    expect(await follower.poll()).toBeNull();
    expect(follower.generations().at(-1)).toBe(publisher.generation);
  });
});

test("a reader without memory refuses an old pointer, unless it is told to take it", async () => {
  await publisher.publish({ signedAt: Date.now() - 901_000 });
  const careful = start();
  expect(await careful.poll()).toBe("stale");
  expect(careful.bytes()).toBe("none");
  const told = start({ allowStale: true });
  expect(await told.poll()).toBeNull();
  await told.poll();
  expect(told.generations()).toEqual([101]);
  expect(told.events()).toContain("store_stale");
});

test("a reader with memory takes what is newer, however old, and says that nothing new comes", async () => {
  const follower = start();
  await publisher.publish({ signedAt: Date.now() - 500_000 });
  await follower.settle();
  expect(follower.events()).not.toContain("store_stale");
  await publisher.publish({ signedAt: Date.now() - 1_000_000 });
  await follower.settle();
  expect(follower.generations()).toEqual([101, 102]);
  await follower.poll();
  expect(follower.events().filter((event) => event === "store_stale")).toHaveLength(1);
});

test("a reader that was started again still refuses an older pointer", async () => {
  await publisher.publish();
  await publisher.publish();
  const first = start();
  await first.settle();
  await first.end({ keep: true });
  followers = [];
  store.write("current.json", store.read("pointers/101.json"));
  const second = start({ folder: first.folder });
  expect(await second.poll()).toBe("older");
  expect(second.generations()).toEqual([101, 102]);
});

test("a reader whose memory was deleted does not go behind what the file has", async () => {
  await publisher.publish();
  await publisher.publish();
  const first = start();
  await first.settle();
  await first.end({ keep: true });
  followers = [];
  for (const name of readdirSync(first.folder).filter((name) => name.includes(".follow")))
    Bun.spawnSync(["rm", join(first.folder, name)]);
  store.write("current.json", store.read("pointers/101.json"));
  const second = start({ folder: first.folder });
  await second.settle();
  expect(second.generations()).toEqual([101, 102]);
});

test("the same generation with another object is refused", async () => {
  const follower = start();
  await publisher.publish();
  await follower.settle();
  publisher.generation = 100;
  publisher.bytes = null;
  await publisher.publish({ lists: [{ region: "GB", videos: videos(2) }] });
  expect(await follower.poll()).toBe("older");
});

test("a clock that is ahead is said once, and hinders nobody who has a memory", async () => {
  let ahead = 0;
  const follower = start({ clock: () => Date.now() + ahead });
  await publisher.publish();
  await follower.settle();
  ahead = 30 * 3_600_000;
  store.clockSeconds = -30 * 3600;
  for (let count = 0; count < 2; count++) {
    await publisher.publish();
    expect(await follower.poll()).toBeNull();
  }
  expect(follower.generations()).toEqual([101, 102, 103]);
  const said = follower.lines.filter(({ event }) => event === "clock_differs");
  expect(said.map(({ difference_seconds }) => Math.round(Number(difference_seconds) / 3600))).toEqual([-30]);
});

test("what was signed in the future is refused until the clocks agree, also without a memory", async () => {
  let ahead = 0;
  const clock = () => Date.now() + ahead;
  const follower = start({ clock });
  await publisher.publish();
  await follower.settle();
  ahead = -120_000;
  await publisher.publish();
  expect(await follower.poll()).toBe("from_future");
  expect(await start({ clock, allowStale: true }).poll()).toBe("from_future");
  expect(follower.generations()).toEqual([101]);
  ahead = -30_000;
  expect(await follower.poll()).toBeNull();
  expect(follower.generations()).toEqual([101, 102]);
});

test("a refusal for the sake of the clock names it", async () => {
  store.clockSeconds = 7200;
  store.fault = () => refusal(403, "RequestTimeTooSkewed");
  const follower = start();
  expect(await follower.poll()).toBe("denied");
  expect(follower.lines.at(-1)?.message).toContain("set the clock of this machine");
});

const disk = SmallDisk.mount(24);
afterAll(() => disk?.unmount());

test.skipIf(disk === null)(
  "a full disk is said, and the file stays; with space again it goes on",
  async () => {
    if (disk === null) return;
    const follower = start({ folder: mkdtempSync(join(disk.path, "lists-")) });
    await publisher.publish();
    await follower.settle();
    const bytes = follower.bytes();
    const size = statSync(follower.path).size;
    for (const share of [0, 0.01, 0.3, 0.9]) {
      await publisher.publish();
      disk.fillUpTo(size * share);
      expect(await follower.poll()).toBe("disk_full");
      expect(follower.bytes()).toBe(bytes);
      disk.empty();
    }
    expect(await follower.poll()).toBeNull();
    expect(follower.generations()).toEqual([101, publisher.generation]);
  },
);

test("one follower writes a file", async () => {
  await publisher.publish();
  const first = start();
  await first.settle();
  const other = () => start({ folder: first.folder });
  expect(other).toThrow(expect.objectContaining({ reason: "held" }));
});

test("a database that somebody writes is not replaced", async () => {
  const first = start();
  await first.end({ keep: true });
  followers = [];
  writeFileSync(`${first.path}-wal`, "");
  expect(() => start({ folder: first.folder })).toThrow(FollowFailure);
  rmSync(first.folder, { recursive: true });
});

test("a file that the disk has damaged is made anew, not copied on", async () => {
  const follower = start();
  await publisher.publish();
  await follower.settle();
  const bytes = Buffer.from(await Bun.file(follower.path).bytes());
  bytes.fill(0x5a, 4096 * 3, 4096 * 20);
  writeFileSync(follower.path, bytes);
  await follower.file.check();
  expect(await follower.poll()).toBeNull();
  expect(follower.generations()).toEqual([101]);
  expect(follower.query("PRAGMA quick_check")).toEqual([{ quick_check: "ok" }]);
});
