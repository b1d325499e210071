import { dlopen } from "bun:ffi";
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, readdirSync, readFileSync, readlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseBuilder, videos } from "@trendvault/kit/database";
import { checkWholeList, startLoad } from "@trendvault/kit/load";
import {
  exitOf,
  freePort,
  isRunning,
  killLaunched,
  launch,
  newFolder,
  root,
  until,
} from "@trendvault/kit/machine";
import { childPids, OriginProcess, originCommand, testEnvironment } from "@trendvault/kit/origin-process";

const engine = readEngineOptions();

let builder: DatabaseBuilder;
let origin: OriginProcess | null;

beforeEach(() => {
  builder = new DatabaseBuilder();
  builder.publish([{ region: "GB", videos: videos(60) }]);
});

afterEach(async () => {
  await origin?.remove();
  builder.remove();
});

async function start(env: Record<string, string> = {}): Promise<OriginProcess> {
  origin = await OriginProcess.start(builder.path, env);
  return origin;
}

function load(url: string, { reconnect = true } = {}) {
  const targets = ["/api/trending", "/api/trending?limit=7"];
  return startLoad(url, { connections: 32, targets, check: checkWholeList, reconnect });
}

test("a killed worker costs only its open requests, and is started again", async () => {
  const { url, lines, workerPids } = bind(await start({ WORKERS: "2" }));
  const victim = Number(workerPids()[0]);
  const requests = load(url);
  await until(() => requests.result.answers > 500);
  process.kill(victim, "SIGKILL");
  await until(() =>
    lines.some(({ event, ...fields }) => event === "worker_exited" && fields.exit === "SIGKILL"),
  );
  await until(() => workerPids().length === 2 && !workerPids().includes(victim));
  const { answers } = requests.result;
  await until(() => requests.result.answers > answers + 500);
  const { failures } = await requests.stop();
  expect(failures.length).toBeLessThanOrEqual(32); // one a connection at most
  expect(failures.filter((failure) => !failure.includes("closed"))).toEqual([]);
});

test("SIGHUP replaces every worker, and no request fails", async () => {
  const { url, workerPids, kill } = bind(await start({ WORKERS: "2" }));
  const before = workerPids();
  const requests = load(url);
  await until(() => requests.result.answers > 500);
  kill("SIGHUP");
  await until(() => workerPids().length === 2 && workerPids().every((pid) => !before.includes(pid)));
  expect((await requests.stop()).failures).toEqual([]);
});

test("while a worker is replaced, load balancers are not told to go elsewhere", async () => {
  const { url, workerPids, kill } = bind(await start());
  const [old] = workerPids();
  const statuses = new Set<number>();
  kill("SIGHUP");
  do {
    // Linux resets a connection that no process has accepted yet when its port is closed.
    const answer = await fetch(`${url}healthz`, { headers: { connection: "close" } }).catch(() => null);
    if (answer !== null) statuses.add(answer.status);
  } while (workerPids().includes(Number(old)));
  expect([...statuses]).toEqual([200]);
});

test.skipIf(!process.env.TEST_LONG)(
  "workers that rest are replaced while all is well, and not while the database is damaged (in long runs only)",
  async () => {
    const damaged = new DatabaseBuilder();
    damaged.publish([{ region: "GB", videos: videos(60) }]);
    damaged.database.run("PRAGMA wal_checkpoint(TRUNCATE)");
    const other = await OriginProcess.start(damaged.path);
    const whole = await start();
    for (const { url } of [other, whole]) {
      const requests = load(url);
      await until(() => requests.result.answers > 11_000);
      await requests.stop();
    }
    damageTable(damaged, "trending");
    const logs = ({ lines }: OriginProcess, name: string) => lines.some(({ event }) => event === name);
    await until(() => logs(other, "check_failed"));
    await until(() => logs(whole, "worker_replaced"));
    expect(logs(other, "workers_rested")).toBe(false); // although it has rested for longer
    expect((await fetch(`${other.url}api/trending`)).status).toBe(200);
    await other.remove();
    damaged.remove();
  },
  300_000,
);

function damageTable({ database, path }: DatabaseBuilder, table: string): void {
  const find = database.query<{ pageno: number }, [string]>(
    "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf'",
  );
  const file = openSync(path, "r+");
  for (const { pageno } of find.all(table))
    writeSync(file, Buffer.alloc(4096, 0xff), 0, 4096, (pageno - 1) * 4096);
  closeSync(file);
}

test("a second SIGHUP during a replacement replaces the new workers once more", async () => {
  const locked = lockableCopy(builder);
  const { lines, workerPids, kill } = bind(await start({ DB_PATH: locked.path }));
  const replaced = () => lines.filter(({ event }) => event === "worker_replaced");
  const [old] = workerPids();
  locked.lock(); // the new worker waits for it before it listens, for two seconds: it is stopped before they are over
  kill("SIGHUP");
  await until(() => workerPids().length === 2);
  const successor = Number(workerPids().find((pid) => pid !== old));
  process.kill(successor, "SIGSTOP");
  kill("SIGHUP");
  locked.unlock();
  process.kill(successor, "SIGCONT");
  await until(() => replaced().length === 2);
  expect(replaced()[1]?.old_worker_pid).toBe(replaced()[0]?.worker_pid);
});

test("when a worker crashes while it is being replaced, the new one takes its place", async () => {
  const locked = lockableCopy(builder);
  const { lines, workerPids, kill } = bind(await start({ DB_PATH: locked.path }));
  const old = Number(workerPids()[0]);
  const others = () => workerPids().filter((pid) => pid !== old);
  locked.lock(); // the new worker waits for it before it listens, for two seconds: it is stopped before they are over
  kill("SIGHUP");
  await until(() => others().length === 1);
  const successor = Number(others()[0]);
  process.kill(successor, "SIGSTOP");
  locked.unlock();
  process.kill(old, "SIGKILL");
  await until(() => lines.some(({ event }) => event === "worker_exited"));
  process.kill(successor, "SIGCONT");
  await until(async () => (await origin?.readiness())?.status === "ok");
  expect(workerPids()).toEqual([successor]);
});

test("SIGTERM answers what was asked, sends every client away, and exits with 0", async () => {
  const running = await start({ WORKERS: "2" });
  const requests = load(running.url, { reconnect: false });
  await until(() => requests.result.answers > 500);
  running.kill("SIGTERM");
  expect(await running.ended).toBe(0);
  expect((await requests.stop()).failures).toEqual([]);
});

test("a second origin on the same port is refused with one sentence", async () => {
  const { url } = await start();
  const { port } = new URL(url);
  const second = await OriginProcess.refuse(builder.path, { PORT: port });
  expect(second.code).toBe(1);
  expect(second.stderr.trim()).toBe(
    `Cannot listen on 127.0.0.1:${port}: another program listens there; stop it or set PORT`,
  );
});

test("a database that is locked for a moment at the start is waited for", async () => {
  const locked = lockableCopy(builder);
  locked.lock();
  origin = await OriginProcess.launch(locked.path);
  await until(() => origin?.workerPids().some((pid) => hasOpen(pid, locked.path)) ?? false);
  locked.unlock();
  await origin.listening();
  expect((await fetch(`${origin.url}api/trending`)).status).toBe(200);
});

test("an admin port that is taken ends it, and the public port is free then", async () => {
  const { admin } = bind(await start());
  const port = String(await freePort());
  const refused = await OriginProcess.refuse(builder.path, { PORT: port, ADMIN_PORT: new URL(admin).port });
  expect(refused.code).toBe(1);
  expect(refused.stderr.trim()).toEndWith("another program listens there; stop it or set ADMIN_PORT");
  Bun.serve({ port: Number(port), reusePort: false, fetch: () => new Response(null) }).stop(true);
});

test("visitors are answered when another program takes the admin port of a worker that is away", async () => {
  const { url, admin, lines, workerPids } = bind(await start());
  const [pid = 0] = workerPids();
  process.kill(pid, "SIGKILL");
  const taker = takePort(Number(new URL(admin).port));
  await until(() => lines.some(({ task }) => task === "answer on the admin port"));
  expect((await fetch(`${url}api/trending`)).status).toBe(200);
  taker.stop(true);
  await until(async () => (await origin?.readiness())?.status === "ok");
  expect(lines.filter(({ event }) => event === "worker_exited")).toHaveLength(1);
});

/** Takes it as soon as nobody listens there: the next worker is started a tenth of a second later. */
function takePort(port: number) {
  for (;;)
    try {
      return Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } });
    } catch {} // it is still there
}

test("a worker runs with the engine's options, which this Bun knows", async () => {
  const { version } = engine;
  expect(version).toBe(Bun.version);
  const [pid] = (await start()).workerPids();
  const environment = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  expect(engine.options).not.toEqual([]);
  expect(environment).toEqual(expect.arrayContaining(engine.options));
});

test("a line of the log has time, level, event and message, in this order", async () => {
  const { lines, url } = bind(await start());
  const [line] = lines;
  expect(Object.keys(line ?? {}).slice(0, 4)).toEqual(["time", "level", "event", "message"]);
  expect(line?.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(line).toMatchObject({ level: "info", event: "listening", message: `The origin answers at ${url}.` });
});

test("workers exit when their supervisor is killed", async () => {
  const running = await start({ WORKERS: "2" });
  const pids = running.workerPids();
  running.kill("SIGKILL");
  await until(() => !pids.some(isRunning));
});

test("metrics are summed over the workers and survive a restart", async () => {
  const { url, admin, workerPids } = bind(await start({ WORKERS: "2" }));
  for (let i = 0; i < 40; i++) await fetch(`${url}api/trending`, { keepalive: false });
  const counted = () => countAnswers(admin);
  await until(async () => (await counted()) === 40);
  for (const pid of workerPids()) process.kill(pid, "SIGKILL");
  const read = async () => (await fetch(`${admin}metrics`)).text();
  await until(async () => (await read().catch(() => "")).includes("trendvault_workers 2")); // one of them answers there
  expect(await counted()).toBe(40);
});

test("while SIGHUP replaces workers, no counter goes back", async () => {
  const { url, admin, lines, kill } = bind(await start());
  for (let i = 0; i < 40; i++) await fetch(`${url}api/trending`, { keepalive: false });
  const counted = () => countAnswers(admin);
  await until(async () => (await counted()) === 40);
  kill("SIGHUP");
  const counts = new Set<number>();
  await until(async () => {
    counts.add(await counted());
    return lines.some(({ event }) => event === "worker_replaced");
  });
  expect([...counts]).toEqual([40]);
});

test("the admin port says that it is ready, and has all promised metrics", async () => {
  const { admin, url } = await start();
  await fetch(`${url}api/trending`);
  await until(async () => (await fetch(`${admin}readyz`)).status === 200);
  expect(await (await fetch(`${admin}readyz`)).json()).toEqual({
    status: "ok",
    reasons: [],
    workers: 1,
    generation: 1,
  });
  const text = await (await fetch(`${admin}metrics`)).text();
  for (const name of ["requests_total", "cache_hits_total", "builds_total", "body_bytes_total"]) {
    expect(text).toContain(`# TYPE trendvault_${name} counter`);
  }
  for (const name of [
    "generation",
    "generation_age_seconds",
    "event_loop_lag_seconds",
    "resident_memory_bytes",
  ]) {
    expect(text).toContain(`# TYPE trendvault_${name} gauge`);
  }
  expect(text).toContain("# TYPE trendvault_sampled_request_duration_seconds histogram");
});

/** What api/src/engine.env sets, and for which Bun. */
function readEngineOptions() {
  const lines = readFileSync(join(root, "api/src/engine.env"), "utf8").split("\n");
  const version = /Bun ([0-9.]+) /.exec(lines.join(" "))?.[1];
  return { version, options: lines.filter((line) => /^[^#]/.test(line)) };
}

function hasOpen(pid: number, path: string): boolean {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).some((name) => readlinkSync(`${folder}/${name}`) === path);
  } catch {
    return false; // the process, or one of its files, is gone meanwhile
  }
}

async function countAnswers(admin: string): Promise<number> {
  const text = await (await fetch(`${admin}metrics`)).text();
  return Number(/^trendvault_requests_total\{route="trending",status="200"\} (\d+)$/m.exec(text)?.[1]);
}

// Methods that may be taken out of the object.
function bind(running: OriginProcess) {
  const { url, admin, lines } = running;
  return {
    url,
    admin,
    lines,
    workerPids: () => running.workerPids(),
    kill: (signal: NodeJS.Signals) => running.kill(signal),
  };
}

/** A copy of a database that has a journal instead of a write-ahead log, and so a lock that keeps readers out. */
function lockableCopy(builder: DatabaseBuilder) {
  const path = `${builder.path}-copy`;
  builder.database.run("VACUUM INTO ?", [path]);
  const writer = new Database(path);
  writer.run("PRAGMA busy_timeout = 60000"); // the inspector may be reading
  return {
    path,
    lock: () => writer.run("BEGIN EXCLUSIVE"),
    unlock() {
      writer.run("COMMIT");
      writer.close();
    },
  };
}

/** A pipe that has no room left and that nobody reads, at the end to write to. */
function fullPipe(): number {
  const path = join(newFolder("pipe"), "log");
  execFileSync("mkfifo", [path]);
  const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  try {
    while (true) writeSync(pipe, new Uint8Array(512));
  } catch {} // it is full
  return openSync(path, constants.O_WRONLY);
}

/** The same of a socket, as journald's is. */
function fullSocket(): number {
  const libc = dlopen("libc.so.6", {
    socketpair: { args: ["int", "int", "int", "ptr"], returns: "int" },
    fcntl: { args: ["int", "int", "int"], returns: "int" },
  });
  const ends = new Int32Array(2);
  const [local, stream, setFlags] = [1, 1, 4];
  libc.symbols.socketpair(local, stream | constants.O_NONBLOCK, 0, ends);
  try {
    while (true) writeSync(ends[1] ?? -1, new Uint8Array(512));
  } catch {} // it is full
  libc.symbols.fcntl(ends[1] ?? -1, setFlags, 0);
  return ends[1] ?? -1;
}

function closedPipe(): number {
  const path = join(newFolder("pipe"), "log");
  execFileSync("mkfifo", [path]);
  const reader = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const pipe = openSync(path, constants.O_WRONLY);
  closeSync(reader);
  return pipe;
}

test.each([
  ["a full disk", () => openSync("/dev/full", "w")],
  ["a pipe that nobody reads", fullPipe],
  ["a socket that nobody reads", fullSocket],
  ["a pipe that is closed", closedPipe],
])(
  "with its log on %s it answers, replaces a killed worker, and ends when it is told to",
  async (_, open) => {
    const log = open();
    const [port, adminPort] = [await freePort(), await freePort()];
    const env = {
      ...process.env,
      ...testEnvironment,
      DB_PATH: builder.path,
      PORT: `${port}`,
      ADMIN_PORT: `${adminPort}`,
    };
    const child = launch([...originCommand], {
      env,
      stdio: ["ignore", log, "ignore"],
    });
    try {
      const workers = () => childPids(child.pid ?? 0, "worker").map(String);
      const isReady = () =>
        fetch(`http://127.0.0.1:${adminPort}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        );
      await until(isReady);
      const [victim] = workers();
      process.kill(Number(victim), "SIGKILL");
      await until(() => workers().length > 0 && !workers().includes(String(victim)));
      await until(isReady);
      child.kill("SIGTERM");
      expect(await exitOf(child)).toBe(0);
    } finally {
      await killLaunched(child);
      closeSync(log);
    }
  },
);
