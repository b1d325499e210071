import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { checkWholeList, startLoad } from "@trendvault/kit/load";
import { newFolder, until } from "@trendvault/kit/machine";
import { OriginProcess } from "@trendvault/kit/origin-process";
import { drawsOf, Random } from "@trendvault/kit/random";
import { FollowerProcess } from "../test-support/test-follower.ts";
import { TestPublisher, usualLists } from "../test-support/test-publisher.ts";
import { TestStore } from "../test-support/test-store.ts";

const random = new Random();
let store: TestStore;
let publisher: TestPublisher;
let folder: string;
let database: string;
let processes: FollowerProcess[];

beforeEach(async () => {
  store = await TestStore.create();
  publisher = await TestPublisher.create(store);
  folder = newFolder("follow");
  database = join(folder, "lists.db");
  processes = [];
});

afterEach(async () => {
  for (const follower of processes) follower.kill("SIGKILL");
  await Promise.all(processes.map((follower) => follower.ended()));
  await store.remove();
  rmSync(folder, { recursive: true });
});

function start(argv: string[] = [], env: Record<string, string> = {}): FollowerProcess {
  const follower = new FollowerProcess([store.address, "--database", database, ...argv], {
    ...store.settings,
    FOLLOW_JWKS: publisher.jwks,
    FOLLOW_INTERVAL_SECONDS: "0.1",
    ...env,
  });
  processes.push(follower);
  return follower;
}

/** The newest generation in the file, which must be whole; 0 while there is none. */
function newest(): number {
  if (!existsSync(database)) return 0;
  const opened = new Database(database, { readonly: true });
  try {
    expect(opened.query("PRAGMA quick_check").all()).toEqual([{ quick_check: "ok" }]);
    return (opened.query("SELECT max(id) AS id FROM generations").get() as { id: number }).id;
  } finally {
    opened.close();
  }
}

test("it follows until SIGTERM, writes its metrics, and leaves nothing but its files", async () => {
  await publisher.publish();
  const metrics = join(folder, "follow.prom");
  const follower = start(["--metrics", metrics]);
  await until(() => newest() === 101);
  await publisher.publish();
  await until(() => newest() === 102);
  follower.kill("SIGTERM");
  expect(await follower.ended()).toBe(0);
  expect(readFileSync(metrics, "utf8")).toContain(
    `trendvault_follow_generation{store="${store.address}"} 102\n`,
  );
  expect(statSync(metrics).mode & 0o777).toBe(0o644);
  expect(readdirSync(folder).sort()).toEqual(["follow.prom", "lists.db", "lists.db.follow"]);
  for (const { time, level, event, message } of follower.lines)
    expect([typeof time, typeof level, typeof event, typeof message]).toEqual(Array(4).fill("string"));
});

test("--once ends with 0 when it is current, with 4 when the store cannot be followed", async () => {
  expect(await start(["--once"]).ended()).toBe(4);
  await publisher.publish();
  expect(await start(["--once"]).ended()).toBe(0);
  expect(newest()).toBe(101);
  expect(await start(["--once"]).ended()).toBe(0);
  await store.stop();
  const failed = start(["--once"]);
  expect(await failed.ended()).toBe(4);
  expect(failed.lines).toContainEqual(
    expect.objectContaining({ event: "store_failed", reason: "unreachable" }),
  );
  store.start();
});

test.each([
  [["--databas", "x"], {}, "--databas"],
  [[], { FOLLOW_JWKS: "{}" }, "FOLLOW_JWKS: expected a JWK set"],
  [[], { S3_ENDPOINT_URL: "s3.example" }, "S3_ENDPOINT_URL: expected an http or https URL"],
  [[], { FOLLOW_INTERVAL_SECONDS: "fast" }, "FOLLOW_INTERVAL_SECONDS: expected seconds"],
  [["https://bucket.example"], {}, '"https://bucket.example" is no store'],
])("%p with %p ends with 2 and says what was expected", async (argv, env, said) => {
  const follower = start(argv, env as never);
  expect(await follower.ended()).toBe(2);
  expect(follower.stderr).toContain(said);
  expect(store.requests).toEqual([]);
});

test("a second one for the same file ends with 3, and a folder that is not there with 5", async () => {
  await publisher.publish();
  start();
  await until(() => newest() === 101);
  expect(await start().ended()).toBe(3);
  database = join(folder, "nowhere/lists.db");
  expect(await start().ended()).toBe(5);
  database = join(folder, "lists.db");
});

test("the documented build makes programs that run", async () => {
  const build = Bun.spawn(
    [process.execPath, "run", "--cwd", join(import.meta.dir, ".."), "build", `--outdir=${folder}/dist`],
    { stdio: ["ignore", "ignore", "ignore"] },
  );
  expect(await build.exited).toBe(0);
  await publisher.publish();
  const env = { ...store.settings, FOLLOW_JWKS: publisher.jwks };
  const run = (program: string, ...argv: string[]) =>
    Bun.spawn([process.execPath, "--no-env-file", join(folder, "dist", program), store.address, ...argv], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
  expect(await run("main.js", "--once", "--database", database).exited).toBe(0);
  expect(newest()).toBe(101);
  expect(await run("verify-history.js", "--data").stdout.text()).toStartWith("whole: 1 pointer");
});

test(`killed at any moment, the file is whole and never goes back (TEST_SEED=${random.seed})`, async () => {
  let before = 0;
  for (let draw = 0; draw < drawsOf({ usual: 12, long: 200 }); draw++) {
    for (let count = random.below(3); count >= 0; count--) await publisher.publish();
    const follower = start();
    const writing = join(`${database}.work`, "next.db");
    const moment = random.below(4);
    if (moment === 0) await until(() => existsSync(`${database}.work`));
    if (moment === 1) await until(() => existsSync(writing) || newest() === publisher.generation);
    if (moment === 2) await Bun.sleep(random.below(600));
    if (moment === 3) await until(() => newest() === publisher.generation);
    follower.kill("SIGKILL");
    await follower.ended();
    const now = newest();
    expect(now).toBeGreaterThanOrEqual(before);
    before = now;
  }
  start();
  await until(() => newest() === publisher.generation);
}, 1_200_000);

test("an origin adopts each new file; no request fails, no list is torn, none goes back", async () => {
  await publisher.publish();
  const follower = start();
  await until(() => newest() === 101);
  const origin = await OriginProcess.start(database);
  const newestServed = async () => {
    const answer = (await (await fetch(`${origin.url}api/trending?region=GB`)).json()) as {
      generation: number;
    };
    return answer.generation;
  };
  try {
    const targets = ["/api/trending?region=GB", "/api/trending?region=DE&limit=50"];
    const load = startLoad(origin.url, { connections: 16, targets, check: checkWholeList });
    let served = 101;
    for (let round = 0; round < 12; round++) {
      await publisher.publish({ lists: usualLists() });
      if (round === 5) {
        follower.kill("SIGKILL");
        await follower.ended();
        start();
      }
      await until(async () => {
        const next = await newestServed();
        expect(next).toBeGreaterThanOrEqual(served);
        served = next;
        return served === publisher.generation;
      });
    }
    expect((await load.stop()).failures).toEqual([]);
    const further = await fetch(`${origin.url}api/trending?region=GB&limit=10&cursor=101-10`);
    expect(further.status).toBe(200); // of the first generation
    await until(async () => (await origin.readiness()).status === "ok");
  } finally {
    await origin.remove();
  }
}, 1_200_000);
