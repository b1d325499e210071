import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  chmodSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { DatabaseBuilder, videos } from "@trendvault/kit/database";
import { type RawResponse, startLoad } from "@trendvault/kit/load";
import { OriginProcess } from "@trendvault/kit/origin-process";
import { drawsOf, Random, testSeed } from "@trendvault/kit/random";
import { supportedSchemaVersion } from "../src/database/schema-version.ts";

const served = ["generations", "generation_regions", "trending", "videos"];
const pageBytes = 4096;

/** A database that faults are done to, and what is true of it. */
class FaultyDatabase {
  readonly folder: string;
  readonly path: string;
  readonly #regions: string[];
  readonly #random: Random;
  #publications = 0;

  constructor(regions: string[], random: Random) {
    const builder = new DatabaseBuilder();
    ({ folder: this.folder, path: this.path } = builder);
    builder.database.close();
    this.#regions = regions;
    this.#random = random;
    this.publish();
    this.checkpoint();
    copyFileSync(this.path, this.good);
  }

  /** A copy of the file as it was first. */
  get good(): string {
    return `${this.folder}/good.db`;
  }

  get servedTable(): string {
    return this.#random.pick(served);
  }

  /** Each generation has titles of its own, so that a list mixed from two would show. Gives its id. */
  publish(): number {
    const builder = new DatabaseBuilder(this.path);
    try {
      const lists = this.#regions.map((region) => ({ region, videos: videos(100, region) }));
      const id = builder.publish(lists, 1_795_171_200 + 60 * this.#publications++);
      if (this.#random.next() < 0.5) builder.database.run("PRAGMA wal_checkpoint(TRUNCATE)");
      return id;
    } finally {
      builder.database.close();
    }
  }

  checkpoint(): void {
    this.run("PRAGMA wal_checkpoint(TRUNCATE)");
  }

  run(sql: string): void {
    this.#open((database) => database.run(sql));
  }

  /** As the documentation says how to replace a database. */
  restore(): void {
    this.removeLog();
    this.replace();
  }

  /** Leaves -wal and -shm as they are, which nobody should do. */
  replace(): void {
    const next = `${this.folder}/next.db`;
    copyFileSync(this.good, next);
    if (statSync(this.path, { throwIfNoEntry: false })?.isFile() === false)
      rmSync(this.path, { recursive: true });
    renameSync(next, this.path);
  }

  removeLog(): void {
    for (const suffix of ["-wal", "-shm"]) rmSync(this.path + suffix, { recursive: true, force: true });
  }

  overwritePage(): void {
    this.checkpoint();
    const pages = this.#open((database) =>
      database
        .query<{ pageno: number }, [string]>("SELECT pageno FROM dbstat WHERE name = ?")
        .all(this.servedTable),
    );
    overwrite(this.path, (this.#random.pick(pages).pageno - 1) * pageBytes, pageBytes);
  }

  /** Writes over a part of a file that belongs to it. */
  overwritePart(suffix: "-wal" | "-shm"): void {
    const path = this.path + suffix;
    const bytes = 1 + this.#random.below(pageBytes);
    const last = Math.max(0, statSync(path).size - bytes);
    overwrite(path, this.#random.below(last + 1), bytes);
  }

  /** What a process that has nothing else open finds. */
  find(): Found {
    try {
      if (statSync(this.path).isFile()) return this.#open(findIn);
    } catch {
      // it cannot be opened, or what is served not be read
    }
    return { newest: null, isWhole: false };
  }

  #open<T>(action: (database: Database) => T): T {
    const database = new Database(this.path, { readwrite: true });
    try {
      database.run("PRAGMA busy_timeout = 2000");
      database.run("PRAGMA synchronous = OFF"); // as in DatabaseBuilder
      return action(database);
    } finally {
      database.close();
    }
  }
}

function overwrite(path: string, from: number, bytes: number): void {
  const file = openSync(path, "r+");
  writeSync(file, new Uint8Array(bytes).fill(0x5a), 0, bytes, from);
  closeSync(file);
}

/** `newest` is null when there is no generation, or not all that is served can be read. */
type Found = { newest: number | null; isWhole: boolean };

// What is damaged may be of no generation, in rows that a fault has left: nobody needs to say so, and somebody may.
function findIn(database: Database): Found {
  const newest =
    readVersion(database) === supportedSchemaVersion && isServable(database) ? readNewest(database) : null;
  return { newest, isWhole: newest !== null && served.every((table) => isSound(database, table)) };
}

// Null when a fault has taken its rows: nobody can serve that, however whole the others are.
function readVersion(database: Database): number | null {
  const sql = "SELECT max(version) AS version FROM schema_migrations";
  return database.query<{ version: number | null }, []>(sql).get()?.version ?? null;
}

/** @throws Error when what is served cannot be read */
function isServable(database: Database): boolean {
  for (const table of ["generations", "videos"]) database.query(`SELECT * FROM ${table}`).all();
  const ofGenerations = "generation IN (SELECT id FROM generations)";
  const read = (rows: string) => database.query(`SELECT * FROM ${rows} WHERE ${ofGenerations}`).all().length;
  read("generation_regions");
  const gaps = `SELECT 1 FROM trending WHERE ${ofGenerations}
    GROUP BY generation, region, window, category HAVING count(*) < max(rank)`;
  return (
    read("trending") === read("trending INDEXED BY trending_by_video") && database.query(gaps).get() === null
  );
}

function isSound(database: Database, table: string): boolean {
  const [row] = database.query<{ quick_check: string }, []>(`PRAGMA quick_check(${table})`).all();
  return row?.quick_check === "ok";
}

function readNewest(database: Database): number | null {
  return database.query<{ id: number | null }, []>("SELECT max(id) AS id FROM generations").get()?.id ?? null;
}

const truthMs = 5000;
const recoveryMs = 600_000; // from anything that was done, while other programs take the processor
const pauseMs = 50;

/** What is true, and whether that is said. */
type Look = { isTrue: boolean; isReady: boolean; newest: number | null; isRunning: boolean; said: object };

/** Of a process, in milliseconds: on a processor, and in a queue for one. */
type Times = { ran: number; waited: number };

type Wrong = { truth: string; since: number; times: Map<number, Times> };

type Options = { workers: number; find: () => Found };

/**
 * Compares what /readyz says with what is true: with the file, as a process that has nothing else open reads it, and with
 * the processes that run. It may be wrong for five seconds, for the time that the origin's processes and this one were
 * ready to run and had no processor, and for what a new process computes to start: each step from a fault to the answer is
 * done by one of them.
 */
class TruthMonitor {
  readonly #origin: OriginProcess;
  readonly #options: Options;

  constructor(origin: OriginProcess, options: Options) {
    this.#origin = origin;
    this.#options = options;
  }

  /** Resolves when what is said is true. @throws Error when it is not in time */
  async expectTruth(): Promise<void> {
    await this.#follow(({ isTrue }) => isTrue);
  }

  /** Resolves when all is well and said to be. @throws Error when something else is said than is true, or after ten minutes */
  async expectReady(): Promise<void> {
    await this.#follow(({ isReady }) => isReady);
  }

  async #follow(isEnough: (look: Look) => boolean): Promise<void> {
    const startedAt = performance.now();
    let wrong: Wrong | null = null;
    for (;;) {
      const at = performance.now();
      const look = await this.#look();
      if (isEnough(look)) return;
      wrong = this.#judge(look, wrong, at);
      if (performance.now() - startedAt > recoveryMs)
        throw new Error(`not ready after ${recoveryMs} ms: ${JSON.stringify(look)}`);
      await Bun.sleep(pauseMs);
    }
  }

  // What changes meanwhile may be said anew as late.
  #judge(look: Look, last: Wrong | null, at: number): Wrong | null {
    if (look.isTrue) return null;
    const truth = `${look.newest} ${look.isRunning}`;
    if (last?.truth !== truth) return { truth, since: at, times: this.#times() };
    const wrongMs = performance.now() - last.since;
    if (wrongMs > truthMs + this.#spentSince(last.times))
      throw new Error(`wrong for ${Math.round(wrongMs)} ms: ${JSON.stringify(look)}`);
    return last;
  }

  async #look(): Promise<Look> {
    const said = await this.#origin.readiness();
    const { newest, isWhole } = this.#options.find();
    const isRunning = this.#isRunning();
    const isServed = newest !== null && isRunning;
    const isReady = isServed && said.status === "ok" && said.generation === newest;
    const isTrue = isReady || (said.status !== "ok" && !(isServed && isWhole));
    return { isTrue, isReady, newest, isRunning, said };
  }

  // A process that was stopped by a signal has the state T.
  #isRunning(): boolean {
    const workers = this.#origin.workerPids();
    const inspectors = this.#origin.inspectorPids();
    const isStopped = (pid: number) => / \(.*\) [TZX] /.test(read(`/proc/${pid}/stat`));
    if (workers.length !== this.#options.workers || inspectors.length > 1) return false;
    return ![...workers, ...inspectors].some(isStopped);
  }

  #times(): Map<number, Times> {
    const { pid } = this.#origin;
    const pids = [process.pid, pid, ...this.#origin.workerPids(), ...this.#origin.inspectorPids()];
    return new Map(pids.map((one) => [one, timesOf(one)]));
  }

  // A process that was started since needs the processor to start.
  #spentSince(before: Map<number, Times>): number {
    let sum = 0;
    for (const [pid, { ran, waited }] of this.#times()) {
      const known = before.get(pid);
      sum += known === undefined ? ran + waited : Math.max(0, waited - known.waited); // a thread may have ended
    }
    return sum;
  }
}

// The first two numbers of each thread's schedstat (Linux, sched-stats.rst): the threads of a start wait for each other.
function timesOf(pid: number): Times {
  const times = { ran: 0, waited: 0 };
  for (const thread of list(`/proc/${pid}/task`)) {
    const [ran = "0", waited = "0"] = read(`/proc/${pid}/task/${thread}/schedstat`).split(" ");
    times.ran += Number(ran) / 1e6;
    times.waited += Number(waited) / 1e6;
  }
  return times;
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // the process has ended
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // the process has ended
  }
}

const rounds = drawsOf({ usual: 12, long: 120 });
const workers = 2;
const regions = ["GB", "DE", "FR"];
const targets = regions.flatMap((region) =>
  ["", "&limit=7", "&limit=50"].map((limit) => `/api/trending?region=${region}${limit}`),
);
const newerSchema = "INSERT INTO schema_migrations VALUES (99, 'x', 'x', 0)";

const random = new Random();
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
  // Not over a FIFO: opening one to write waits for a reader.
  "copy an older file over it": () => {
    const isOther = statSync(path, { throwIfNoEntry: false })?.isFile() === false;
    if (isOther) throw new Error("what has the path is no file");
    copyFileSync(database.good, path);
  },
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
  // Where it has read all, there is none.
  "stop the inspector": () => origin.inspectorPids().forEach((pid) => void process.kill(pid, "SIGSTOP")),
  "kill the inspector": () => origin.inspectorPids().forEach((pid) => void process.kill(pid, "SIGKILL")),
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
  const monitor = new TruthMonitor(origin, { workers, find: () => database.find() });
  try {
    for (let round = 0; round < rounds; round++) {
      for (let left = 1 + random.below(2); left > 0; left--) done.push(await cause());
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
    if (random.next() < 0.3) database.publish();
    return name;
  } catch (error) {
    return `${name}: ${error}`; // not possible after what was done before
  }
}

function truncate(file: string): void {
  truncateSync(file, Math.floor(statSync(file).size * random.next()));
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
