import { afterAll, expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SmallDisk } from "@trendvault/kit/machine";
import { drawsOf, Random } from "@trendvault/kit/random";
import { storeFaults } from "../test-support/faults.ts";
import { TestFollower } from "../test-support/test-follower.ts";
import { TestPublisher } from "../test-support/test-publisher.ts";
import { TestStore } from "../test-support/test-store.ts";

const random = new Random();
const disk = SmallDisk.mount(32);
afterAll(() => disk?.unmount());

type Ordeal = {
  store: TestStore;
  publisher: TestPublisher;
  follower: TestFollower;
  happened: string[];
  newest: number;
};

test(`whatever happens to a store, the file is whole, never goes back, and is current in the end (TEST_SEED=${random.seed})`, async () => {
  const store = await TestStore.create();
  const publisher = await TestPublisher.create(store);
  await publisher.publish(); // the first fault may put an older pointer back
  const folder = mkdtempSync(join(disk?.path ?? tmpdir(), "trendvault-follow-"));
  const ordeal: Ordeal = {
    store,
    publisher,
    follower: start({ store, publisher }, folder),
    happened: [],
    newest: 0,
  };
  try {
    for (let draw = 0; draw < drawsOf({ usual: 40, long: 1000 }); draw++) {
      await suffer(ordeal);
      requireHeld(ordeal);
      if (random.below(2) === 0) await recover(store);
    }
    await recover(store);
    await publisher.publish();
    const { happened, follower } = ordeal;
    follower.timeoutSeconds = 300;
    expect({ happened, failure: await follower.poll() }).toEqual({ happened, failure: null });
    expect(follower.generations().at(-1)).toBe(publisher.generation);
  } finally {
    await ordeal.follower.end();
    await store.remove();
  }
}, 1_200_000);

function start({ store, publisher }: Pick<Ordeal, "store" | "publisher">, folder: string): TestFollower {
  const env = { ...store.settings, FOLLOW_JWKS: publisher.jwks, SOURCE_TIMEOUT_SECONDS: "0.3" };
  return new TestFollower({ addresses: [store.address], env, folder });
}

async function suffer(ordeal: Ordeal): Promise<void> {
  const { store, publisher, happened } = ordeal;
  const before = await publisher.publish();
  if (random.below(2) === 0) await publisher.publish();
  const fault = random.pick(storeFaults);
  happened.push(fault.name);
  if (random.below(4) === 0) {
    happened.push("the disk is full");
    await disk?.fillUpTo(random.below(2_000_000));
  }
  await fault.happen({ store, publisher, before });
  for (let poll = random.below(3); poll >= 0; poll--) await ordeal.follower.poll();
  if (random.below(4) > 0) return;
  happened.push("a new start");
  disk?.empty(); // without space there is none: the program ends, and systemd starts it again
  await ordeal.follower.end({ keep: true });
  ordeal.follower = start(ordeal, ordeal.follower.folder);
}

function requireHeld(ordeal: Ordeal): void {
  const { follower, happened } = ordeal;
  const held = follower.bytes() === "none" ? 0 : (follower.generations().at(-1) ?? 0);
  expect({ happened, held }).toEqual({ happened, held: Math.max(held, ordeal.newest) });
  if (held > 0) expect(follower.query("PRAGMA quick_check")).toEqual([{ quick_check: "ok" }]);
  ordeal.newest = held;
}

async function recover(store: TestStore): Promise<void> {
  store.fault = null;
  disk?.empty();
  await store.stop(); // no connection of before is left
  store.start();
}
