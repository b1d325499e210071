import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, copyFileSync, mkdirSync, renameSync, rmSync, statSync, truncateSync } from "node:fs";
import { drawsOf, testSeed } from "@trendvault/contract/test-support/random";
import { FaultyDatabase } from "../test-support/faulty-database.ts";
import { startLoad } from "../test-support/load.ts";
import { OriginProcess } from "../test-support/origin-process.ts";
import { randomNumbers } from "../test-support/random-numbers.ts";
import type { RawResponse } from "../test-support/raw-client.ts";
import { TruthMonitor } from "../test-support/truth-monitor.ts";

const rounds = drawsOf({ usual: 12, long: 120 });
const workers = 2;
const regions = ["GB", "DE", "FR"];
const targets = regions.flatMap((region) =>
  ["", "&limit=7", "&limit=50"].map((limit) => `/api/trending?region=${region}${limit}`),
);
const newerSchema = "INSERT INTO schema_migrations VALUES (99, 'x', 'x', 0)";

const random = randomNumbers(testSeed);
let database: FaultyDatabase;
let path: string;
let origin: OriginProcess;

beforeAll(async () => {
  database = new FaultyDatabase(regions, random);
  ({ path } = database);
  origin = await OriginProcess.start(path, { WORKERS: String(workers) });
});

afterAll(async () => {
  await origin.remove();
  rmSync(database.folder, { recursive: true, force: true });
});

/** What can be done to a file, to a table and to a process. */
const faults: Record<string, () => void | Promise<void>> = {
  "delete -wal and -shm": () => database.removeLog(),
  "delete -shm": () => rmSync(`${path}-shm`, { force: true }),
  "truncate -wal": () => truncate(`${path}-wal`),
  "empty -wal": () => truncateSync(`${path}-wal`, 0),
  "overwrite a part of -wal": () => database.overwritePart("-wal"),
  "overwrite a part of -shm": () => database.overwritePart("-shm"),
  "replace -wal by a folder": () => {
    rmSync(`${path}-wal`, { force: true });
    mkdirSync(`${path}-wal`);
  },
  truncate: () => truncate(path),
  empty: () => truncateSync(path, 0),
  "overwrite a page": () => database.overwritePage(),
  "copy an older file over it": () => copyFileSync(database.good, path),
  "rename away": () => renameSync(path, `${database.folder}/elsewhere.db`),
  "take all rights": () => chmodSync(path, 0),
  "drop a table": () => database.run(`DROP TABLE ${database.servedTable}`),
  "migrate to a newer schema": () => database.run(newerSchema),
  "delete all generations": () => database.run("DELETE FROM generations"),
  "delete the newest generation": () =>
    database.run("DELETE FROM generations WHERE id = (SELECT max(id) FROM generations)"),
  "publish a torn generation": () =>
    database.run(`DELETE FROM trending WHERE generation = ${database.publish()} AND rank = 5`),
  "replace the file": () => database.restore(),
  "replace the file, but not -wal and -shm": () => database.replace(),
  "replace the file by one of a newer schema": () => {
    database.restore();
    database.run(newerSchema);
  },
  "replace the file by a folder": () => {
    rmSync(path);
    mkdirSync(path);
  },
  "replace the file by a FIFO": () => {
    rmSync(path);
    Bun.spawnSync(["mkfifo", path]);
  },
  "stop a worker": () => void process.kill(random.pick(origin.workerPids()), "SIGSTOP"),
  "kill a worker": () => void process.kill(random.pick(origin.workerPids()), "SIGKILL"),
  "kill all workers": () => origin.workerPids().forEach((pid) => void process.kill(pid, "SIGKILL")),
  "stop the inspector": () => void process.kill(random.pick(origin.inspectorPids()), "SIGSTOP"),
  "kill the inspector": () => void process.kill(random.pick(origin.inspectorPids()), "SIGKILL"),
  "stop the supervisor for a while": async () => {
    process.kill(origin.pid, "SIGSTOP");
    await Bun.sleep(2500);
    process.kill(origin.pid, "SIGCONT");
  },
  "publish a generation": () => void database.publish(),
};

test(`whatever happens, readiness tells the truth and no list is torn (SEED=${testSeed})`, async () => {
  const done: string[] = [];
  const load = startLoad(origin.url, { connections: 8, targets, check: checkAnswer });
  const monitor = new TruthMonitor(origin, { workers, findNewest: () => database.findNewest() });
  try {
    for (let round = 0; round < rounds; round++) {
      for (let left = random.integer(1, 2); left > 0; left--) done.push(await cause());
      await monitor.expectTruth();
      database.restore();
      done.push("restore");
      database.publish();
      await monitor.expectReady();
    }
  } catch (error) {
    throw new Error(`After ${done.join(", ")}: ${error}`);
  } finally {
    const { failures } = await load.stop();
    const answers = failures.filter((failure) => !/closed|connect/.test(failure)); // workers were killed
    expect([done, answers.slice(0, 3)]).toEqual([done, []]);
  }
});

async function cause(): Promise<string> {
  const name = random.pick(Object.keys(faults));
  try {
    await faults[name]?.();
    if (random.fraction() < 0.3) database.publish();
    return name;
  } catch (error) {
    return `${name}: ${error}`; // not possible after what was done before
  }
}

function truncate(file: string): void {
  truncateSync(file, Math.floor(statSync(file).size * random.fraction()));
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
