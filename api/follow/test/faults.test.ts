import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { videos } from "@trendvault/kit/database";
import { SmallDisk } from "@trendvault/kit/machine";
import { drawsOf, Random, testSeed } from "@trendvault/kit/random";
import { FollowFailure } from "../src/failure.ts";
import { storeFaults } from "../test-support/faults.ts";
import { FollowedStore } from "../test-support/test-follower.ts";
import { refusal } from "../test-support/test-store.ts";

const followed = FollowedStore.forEachTest();

describe("the file stays as it is, and is current again without a new start, when", () => {
  test.each(storeFaults)("$name", async ({ reason, happen, isInObject }) => {
    const follower = followed.start();
    await followed.publisher.publish();
    const before = await followed.publisher.publish();
    await follower.settle();
    const bytes = follower.bytes();
    if (!isInObject && reason !== "older") await followed.publisher.publish();
    const { store, publisher } = followed;
    await happen({ store, publisher, before });

    if (reason === "timeout") follower.timeoutSeconds = 0.5;
    for (let again = 0; again < 2; again++) expect(await follower.poll()).toBe(reason);
    expect(follower.bytes()).toBe(bytes);
    expect(readdirSync(follower.file.workFolder).filter((name) => name !== "spare.db")).toEqual([]);
    const { message } = follower.lines.at(-1) as { message: string };
    expect(message).toMatch(/^[^\n]{40,500}$/);

    followed.store.fault = null;
    follower.timeoutSeconds = 300;
    if (reason === "unreachable") followed.store.start();
    await followed.publisher.publish();
    expect(await follower.poll()).toBeNull();
    expect(follower.generations().at(-1)).toBe(followed.publisher.generation);
  });
});

test("a reader without memory refuses an old pointer, unless it is told to take it", async () => {
  await followed.publisher.publish({ signedAt: Date.now() - 901_000 });
  const careful = followed.start();
  expect(await careful.poll()).toBe("stale");
  expect(careful.bytes()).toBe("none");
  const told = followed.start({}, { allowStale: true });
  expect(await told.poll()).toBeNull();
  await told.poll();
  expect(told.generations()).toEqual([101]);
  expect(told.events()).toContain("store_stale");
});

test("a reader with memory takes what is newer, however old, and says that nothing new comes", async () => {
  const follower = followed.start();
  await followed.publisher.publish({ signedAt: Date.now() - 500_000 });
  await follower.settle();
  expect(follower.events()).not.toContain("store_stale");
  await followed.publisher.publish({ signedAt: Date.now() - 1_000_000 });
  await follower.settle();
  expect(follower.generations()).toEqual([101, 102]);
  await follower.poll();
  expect(follower.events().filter((event) => event === "store_stale")).toHaveLength(1);
});

test("a reader that was started again still refuses an older pointer", async () => {
  await followed.publisher.publish();
  await followed.publisher.publish();
  const first = followed.start();
  await first.settle();
  await first.end({ keep: true });
  followed.store.write("current.json", followed.store.read("pointers/101.json"));
  const second = followed.start({}, { folder: first.folder });
  expect(await second.poll()).toBe("older");
  expect(second.generations()).toEqual([101, 102]);
});

test("a reader whose memory was deleted does not go behind what the file has", async () => {
  await followed.publisher.publish();
  await followed.publisher.publish();
  const first = followed.start();
  await first.settle();
  await first.end({ keep: true });
  for (const name of readdirSync(first.folder).filter((name) => name.includes(".follow")))
    Bun.spawnSync(["rm", join(first.folder, name)]);
  followed.store.write("current.json", followed.store.read("pointers/101.json"));
  const second = followed.start({}, { folder: first.folder });
  await second.settle();
  expect(second.generations()).toEqual([101, 102]);
});

test("the same generation with another object is refused", async () => {
  const follower = followed.start();
  await followed.publisher.publish();
  await follower.settle();
  followed.publisher.generation = 100;
  followed.publisher.bytes = null;
  await followed.publisher.publish({ lists: [{ region: "GB", videos: videos(2) }] });
  expect(await follower.poll()).toBe("older");
});

test("a clock that is ahead is said once, and hinders nobody who has a memory", async () => {
  let ahead = 0;
  const follower = followed.start({}, { clock: () => Date.now() + ahead });
  await followed.publisher.publish();
  await follower.settle();
  ahead = 30 * 3_600_000;
  followed.store.clockSeconds = -30 * 3600;
  for (let count = 0; count < 2; count++) {
    await followed.publisher.publish();
    expect(await follower.poll()).toBeNull();
  }
  expect(follower.generations()).toEqual([101, 102, 103]);
  const said = follower.lines.filter(({ event }) => event === "clock_differs");
  expect(said.map(({ difference_seconds }) => Math.round(Number(difference_seconds) / 3600))).toEqual([-30]);
});

test("what was signed in the future is refused until the clocks agree, also without a memory", async () => {
  let ahead = 0;
  const signedAt = Date.now(); // the clock stands: it would have caught up where the machine is slow
  const clock = () => signedAt + ahead;
  const follower = followed.start({}, { clock });
  await followed.publisher.publish({ signedAt });
  await follower.settle();
  ahead = -120_000;
  await followed.publisher.publish({ signedAt });
  expect(await follower.poll()).toBe("from_future");
  expect(await followed.start({}, { clock, allowStale: true }).poll()).toBe("from_future");
  expect(follower.generations()).toEqual([101]);
  ahead = -30_000;
  expect(await follower.poll()).toBeNull();
  expect(follower.generations()).toEqual([101, 102]);
});

test(`whichever clocks are wrong, only what they call the future is refused, and all is well with them (TEST_SEED=${testSeed})`, async () => {
  const random = new Random();
  const sizes = [0, 2, 30, 90, 300, 3600]; // seconds; 60 may lie between two machines
  let now = Math.floor(Date.now() / 1000) * 1000;
  let ahead = 0;
  const clock = () => now + ahead * 1000;
  const publish = (writerAhead: number) => {
    now += 60_000;
    const signedAt = now + writerAhead * 1000;
    return followed.publisher.publish({ signedAt, rankedAt: signedAt / 1000 });
  };
  const follower = followed.start({}, { clock });
  await publish(0);
  await follower.settle();
  for (let draw = 0; draw < drawsOf({ usual: 8, long: 150 }); draw++) {
    const writerAhead = random.pick([-1, 1]) * random.pick(sizes);
    ahead = random.pick([-1, 1]) * random.pick(sizes);
    followed.store.clockSeconds = -ahead; // its own is right
    const before = follower.generations();
    await publish(writerAhead);
    const difference = writerAhead - ahead;
    const refusal = difference > 60 ? "from_future" : null;
    const context = { draw, writerAhead, ahead };
    expect({ ...context, failure: await follower.poll() }).toEqual({ ...context, failure: refusal });
    const shown = refusal === null ? followed.publisher.generation : before.at(-1);
    expect({ ...context, shown: follower.generations().at(-1) }).toEqual({ ...context, shown });
    const [told] = follower.lines.filter(({ event }) => event === "clock_differs").slice(-1);
    if (Math.abs(ahead) > 60) {
      expect(Math.abs(Number(told?.difference_seconds) + ahead), JSON.stringify(context)).toBeLessThan(61);
    }
    const other = followed.start({}, { clock });
    const withoutMemory = refusal ?? (difference < -900 ? "stale" : null);
    expect({ ...context, other: await other.poll() }).toEqual({ ...context, other: withoutMemory });

    [ahead, followed.store.clockSeconds] = [0, 0];
    await publish(0);
    for (const each of [follower, other]) {
      expect({ ...context, failure: await each.poll() }).toEqual({ ...context, failure: null });
      expect(each.generations().at(-1)).toBe(followed.publisher.generation);
    }
  }
}, 1_200_000);

test("a refusal for the sake of the clock names it", async () => {
  followed.store.clockSeconds = 7200;
  followed.store.fault = () => refusal(403, "RequestTimeTooSkewed");
  const follower = followed.start();
  expect(await follower.poll()).toBe("denied");
  expect(follower.lines.at(-1)?.message).toContain("set the clock of this machine");
});

const disk = SmallDisk.mount(24);
afterAll(() => disk?.unmount());

test.skipIf(disk === null)(
  "a full disk is said, and the file stays; with space again it goes on",
  async () => {
    if (disk === null) return;
    const follower = followed.start({}, { folder: mkdtempSync(join(disk.path, "lists-")) });
    await followed.publisher.publish();
    await follower.settle();
    const bytes = follower.bytes();
    const size = statSync(follower.path).size;
    for (const share of [0, 0.01, 0.3, 0.9]) {
      await followed.publisher.publish();
      await disk.fillUpTo(size * share);
      expect(await follower.poll()).toBe("disk_full");
      expect(follower.bytes()).toBe(bytes);
      disk.empty();
    }
    expect(await follower.poll()).toBeNull();
    expect(follower.generations()).toEqual([101, followed.publisher.generation]);
  },
);

test("one follower writes a file", async () => {
  await followed.publisher.publish();
  const first = followed.start();
  await first.settle();
  const other = () => followed.start({}, { folder: first.folder });
  expect(other).toThrow(expect.objectContaining({ reason: "held" }));
});

test("a database that somebody writes is not replaced", async () => {
  const first = followed.start();
  await first.end({ keep: true });
  writeFileSync(`${first.path}-wal`, "");
  expect(() => followed.start({}, { folder: first.folder })).toThrow(FollowFailure);
});

test("following goes on while the file is checked, and is begun anew when that ends with damage", async () => {
  const checked = Promise.withResolvers<"damaged">();
  const follower = followed.start({}, { checkFile: () => checked.promise });
  await followed.publisher.publish();
  await follower.settle();
  const check = follower.file.check();
  await followed.publisher.publish();
  expect(await follower.poll()).toBeNull();
  expect(follower.generations()).toContain(102);
  checked.resolve("damaged");
  await check;
  await followed.publisher.publish();
  await follower.settle();
  expect(follower.events()).toContain("begun_anew");
  expect(follower.generations()).toEqual([103]);
});

test("a file that the disk has damaged is made anew, not copied on", async () => {
  const follower = followed.start();
  await followed.publisher.publish();
  await follower.settle();
  const bytes = Buffer.from(await Bun.file(follower.path).bytes());
  bytes.fill(0x5a, 4096 * 3, 4096 * 20);
  writeFileSync(follower.path, bytes);
  await follower.file.check();
  expect(await follower.poll()).toBeNull();
  expect(follower.generations()).toEqual([101]);
  expect(follower.query("PRAGMA quick_check")).toEqual([{ quick_check: "ok" }]);
});
