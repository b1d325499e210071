import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { missingServer } from "@trendvault/kit/object-store";
import { drawsOf, Random } from "@trendvault/kit/random";
import { type Judge, startLoad } from "./test-support/judge.ts";
import type { Mishaps } from "./test-support/mishaps.ts";
import { killedCode, PublishingSystem, publishedRegions } from "./test-support/publishing-system.ts";

// One writer, two origins on files that followers keep, and an edge without an origin, over a real store; and all that
// may go wrong with them. Whatever happens, what readers serve is signed, whole, and goes forward.
setDefaultTimeout(1_800_000); // bounded by its rounds

const root = resolve(import.meta.dir, "../..");
const random = new Random();
const generations = drawsOf({ usual: 40, long: 200 });
const secondsPerGeneration = 1;
const bundleEvery = 4; // rounds: rendering takes longer than a second
const settleSeconds = 600; // only a fault takes so long, on a busy machine
const missing = missingServer();

describe.skipIf(missing !== null)(`publishing and reading${missing === null ? "" : ` (${missing})`}`, () => {
  const exitCodes = new Map<number, number>();
  let system: PublishingSystem;
  let mishaps: Mishaps;

  beforeAll(async () => {
    system = await PublishingSystem.start(random, ["one", "two"]);
    mishaps = system.mishaps(random);
  });
  afterAll(() => system?.stop());

  test(`${generations} generations go forward on all readers, whatever fails (seed ${random.seed})`, async () => {
    const stops = system.judges.map((judge, index) => {
      const limits = index < system.readers.length ? [7, 24, 50] : [3, 7, 24, 33, 50];
      const load = { regions: publishedRegions, limits, connections: 2, pauseMs: 50 };
      return startLoad(judge, { ...load, seed: random.seed });
    });
    for (let round = 0; round < generations; round++) {
      const endOfRound = Bun.sleep(secondsPerGeneration * 1000);
      await mishaps.nextRound();
      await publishOnce(round);
      for (const reader of system.readers) expect(reader.hasGoneForward()).toBe(true);
      await endOfRound;
    }
    await mishaps.endAll();
    for (const bundle of [false, true]) {
      expect(await system.publisher.publishUnhurried({ bundle })).toBe(0);
    }
    await Promise.all(system.judges.map(catchesUp));
    await Promise.all(stops.map((stop) => stop()));
    report();
    for (const { failures } of system.judges) expect(failures.slice(0, 3)).toEqual([]);
    for (const { counts } of system.judges) expect(counts.lists).toBeGreaterThan(generations);
  });

  test("nothing is lost at the writer", () => {
    const { publisher } = system;
    expect(publisher.query("PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);
    const numbers = "SELECT min(id) AS first, max(id) - count(*) AS missing FROM generations";
    expect(publisher.query(numbers)).toEqual([{ first: 1, missing: 0 }]);
    const stored = publisher.query("SELECT count(*) AS count FROM observations");
    expect(stored).toEqual([{ count: publisher.observations }]);
  });

  test("what was served is what the writer ranked", () => {
    expect(system.lists.size).toBeGreaterThan(1000);
    const ranked = new Map(
      system.publisher
        .query<{ place: string; id: string }>(
          `SELECT generation || ' ' || region || ' ' || window || ' ' || rank AS place, video_id AS id
           FROM trending WHERE category = ''`,
        )
        .map(({ place, id }) => [place, id]),
    );
    const wrong = [...system.lists].filter(([place, id]) => ranked.get(place) !== id);
    expect(wrong.slice(0, 3)).toEqual([]);
  });

  test("the history is whole", async () => {
    const program = join(root, "api/follow/src/verify-history.ts");
    const child = Bun.spawn([process.execPath, "--no-env-file", program, system.store.address], {
      env: system.readerSettings,
      stdout: "pipe",
      stderr: "inherit",
    });
    expect(await child.stdout.text()).toContain("whole");
    expect(await child.exited).toBe(0);
  });

  test("no program ended by itself, and followers agree and leave nothing behind", () => {
    const programs = [system.edge, ...system.readers.flatMap(({ follower, origin }) => [follower, origin])];
    expect(programs.flatMap(({ ended }) => ended)).toEqual([]);
    expect(new Set(system.readers.map((reader) => reader.newestGeneration())).size).toBe(1);
    for (const { databasePath } of system.readers)
      expect(readdirSync(dirname(databasePath)).length).toBeLessThan(6);
  });

  test("a disk was full, unless this user may not mount one", () => {
    expect(system.disk !== null).toBe(mishaps.counts.has("full disk"));
  });

  /** Every fifth run is killed at some time. */
  async function publishOnce(round: number): Promise<void> {
    const bundle = round % bundleEvery === 0;
    const killAfterMs = random.below(bundle ? 2000 : 250);
    const isKilled = random.below(5) === 0;
    const exitCode = await system.publisher.publish({ bundle, ...(isKilled ? { killAfterMs } : {}) });
    exitCodes.set(exitCode, (exitCodes.get(exitCode) ?? 0) + 1);
    expect([0, 4, killedCode]).toContain(exitCode);
  }

  /** Lists that nobody has asked for are in no cache. */
  async function catchesUp(judge: Judge): Promise<void> {
    const [newest] = system.publisher.query<{ id: number }>("SELECT max(id) AS id FROM generations");
    const deadline = Date.now() + settleSeconds * 1000;
    for (let limit = 8; judge.newestGeneration < (newest?.id ?? 0); limit = 8 + ((limit - 7) % 15)) {
      await judge.ask(`/api/trending?region=${random.pick(publishedRegions)}&window=week&limit=${limit}`);
      if (Date.now() > deadline) throw new Error(`at ${judge.newestGeneration}, and not at ${newest?.id}`);
      await Bun.sleep(200);
    }
  }

  function report(): void {
    console.log("exit codes of the writer:", Object.fromEntries(exitCodes));
    console.log("what went wrong:", Object.fromEntries(mishaps.counts));
    for (const { counts } of system.judges) console.log("answers:", counts);
  }
});
