import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  chmodSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { drawsOf, testSeed } from "@trendvault/contract/test-support/random";
import { DatabaseBuilder, videos } from "../test-support/database-builder.ts";
import { startLoad } from "../test-support/load.ts";
import { OriginProcess } from "../test-support/origin-process.ts";
import { randomNumbers } from "../test-support/random-numbers.ts";
import type { RawResponse } from "../test-support/raw-client.ts";

const seed = testSeed;
const rounds = drawsOf({ usual: 12, long: 120 });
const truthMs = 5000;
const busyMachineMs = 5000; // in addition, when other programs take the processor
const served = ["generations", "generation_regions", "trending", "videos"];
const regions = ["GB", "DE", "FR"];
const targets = regions.flatMap((region) => [
  `/api/trending?region=${region}`,
  `/api/trending?region=${region}&limit=7`,
  `/api/trending?region=${region}&limit=50`,
]);

const random = randomNumbers(seed);
let folder: string;
let path: string;
let origin: OriginProcess;
let lastId = 0;

beforeAll(async () => {
  const builder = new DatabaseBuilder();
  ({ folder, path } = builder);
  builder.database.close();
  publish();
  checkpoint();
  copyFileSync(path, `${folder}/good.db`);
  origin = await OriginProcess.start(path, { WORKERS: "2" });
});

afterAll(async () => {
  await origin.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** What can be done to a file, to a table and to a process. */
const faults: Record<string, () => void> = {
  "delete -wal and -shm": () => removeLog(),
  "delete -shm": () => rmSync(`${path}-shm`, { force: true }),
  truncate: () => truncateSync(path, Math.floor(statSync(path).size * random.fraction())),
  "overwrite a page": overwritePage,
  "rename away": () => renameSync(path, `${folder}/elsewhere.db`),
  "take all rights": () => chmodSync(path, 0),
  "drop a table": () => inDatabase((database) => database.run(`DROP TABLE ${random.pick(served)}`)),
  "delete all generations": () => inDatabase((database) => database.run("DELETE FROM generations")),
  "publish a torn generation": () => {
    const id = publish();
    inDatabase((database) => database.run("DELETE FROM trending WHERE generation = ? AND rank = 5", [id]));
  },
  "replace the file": restore,
  "replace the file by a folder": () => {
    rmSync(path);
    mkdirSync(path);
  },
  "replace the file by a FIFO": () => {
    rmSync(path);
    Bun.spawnSync(["mkfifo", path]);
  },
  "stop a worker": () => signal("SIGSTOP"),
  "kill a worker": () => signal("SIGKILL"),
  "publish a generation": () => void publish(),
};

test(`whatever happens, readiness tells the truth and no list is torn (TEST_SEED=${seed})`, async () => {
  const done: string[] = [];
  const load = startLoad(origin.url, { connections: 8, targets, check: checkAnswer });
  try {
    for (let round = 0; round < rounds; round++) {
      for (let left = random.integer(1, 2); left > 0; left--) done.push(cause());
      await expectTruth(done);
      restore();
      done.push("restore");
      publish();
      await expectTruth(done);
    }
  } finally {
    const { failures } = await load.stop();
    const answers = failures.filter((failure) => !/closed|connect/.test(failure)); // workers were killed
    expect([done, answers.slice(0, 3)]).toEqual([done, []]);
  }
});

function cause(): string {
  const name = random.pick(Object.keys(faults));
  try {
    faults[name]?.();
    if (random.fraction() < 0.3) publish();
    return name;
  } catch (error) {
    return `${name}: ${error}`; // not possible after what was done before
  }
}

/** Degraded when the file is damaged; else the newest generation and nothing to complain about. */
async function expectTruth(done: string[]): Promise<void> {
  const startedAt = performance.now();
  for (;;) {
    const [found, said] = [inspect(), await origin.readiness()];
    const isTrue = found === null ? said.status !== "ok" : said.status === "ok" && said.generation === found;
    if (isTrue) return;
    const isLate = performance.now() - startedAt > truthMs + busyMachineMs;
    if (isLate) throw new Error(`${JSON.stringify({ found, said })} after ${done.join(", ")}`);
    await Bun.sleep(50);
  }
}

/** The newest generation as a process that has nothing else open finds it; null when not all can be read. */
function inspect(): number | null {
  try {
    if (!statSync(path).isFile()) return null;
    return inDatabase((database) => {
      for (const table of served) {
        const [row] = database.query<{ quick_check: string }, []>(`PRAGMA quick_check(${table})`).all();
        if (row?.quick_check !== "ok") return null;
      }
      const gaps = database
        .query(
          "SELECT 1 FROM trending GROUP BY generation, region, window, category HAVING count(*) < max(rank)",
        )
        .get();
      if (gaps !== null) return null;
      return (
        database.query<{ id: number | null }, []>("SELECT max(id) AS id FROM generations").get()?.id ?? null
      );
    });
  } catch {
    return null;
  }
}

// Each generation has titles of its own, so that a list mixed from two would show.
function publish(): number {
  return inDatabase(() => {
    const builder = new DatabaseBuilder(path);
    const lists = regions.map((region) => ({ region, videos: videos(100, region) }));
    lastId = builder.publish(lists, 1_795_171_200 + 60 * publications++);
    if (random.fraction() < 0.5) builder.database.run("PRAGMA wal_checkpoint(TRUNCATE)");
    builder.database.close();
    return lastId;
  });
}
let publications = 0;

function checkpoint(): void {
  inDatabase((database) => database.run("PRAGMA wal_checkpoint(TRUNCATE)"));
}

function inDatabase<T>(action: (database: Database) => T): T {
  const database = new Database(path, { readwrite: true });
  try {
    database.run("PRAGMA busy_timeout = 2000");
    return action(database);
  } finally {
    database.close();
  }
}

function overwritePage(): void {
  checkpoint();
  const pages = inDatabase((database) =>
    database
      .query<{ pageno: number }, [string]>("SELECT pageno FROM dbstat WHERE name = ?")
      .all(random.pick(served)),
  );
  const { pageno } = random.pick(pages);
  const file = openSync(path, "r+");
  writeSync(file, new Uint8Array(4096).fill(0x5a), 0, 4096, (pageno - 1) * 4096);
  closeSync(file);
}

function removeLog(): void {
  for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
}

// As the documentation says how to replace a database.
function restore(): void {
  const next = `${folder}/next.db`;
  copyFileSync(`${folder}/good.db`, next);
  rmSync(`${path}-wal`, { force: true });
  rmSync(`${path}-shm`, { force: true });
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) rmSync(path, { recursive: true });
  renameSync(next, path);
}

function signal(name: "SIGSTOP" | "SIGKILL"): void {
  process.kill(random.pick(origin.workerPids()), name);
}

/** 200 with a whole list, or 503. */
function checkAnswer({ status, body }: RawResponse): string | null {
  if (status === 503) return null;
  if (status !== 200) return `status ${status}: ${body.slice(0, 200)}`;
  const page = JSON.parse(body) as { generation: number; count: number; items: { rank: number }[] };
  const isWhole =
    page.items.length === page.count && page.items.every(({ rank }, index) => rank === index + 1);
  return isWhole && page.count > 0 ? null : `torn list in generation ${page.generation}`;
}
