import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { DatabaseBuilder, videos } from "@trendvault/kit/database";
import { until } from "@trendvault/kit/machine";
import { OriginProcess } from "@trendvault/kit/origin-process";

const lists = ["GB", "DE", "FR"].map((region) => ({ region, videos: videos(100, region) }));

let path: string;
let folder: string;
let origin: OriginProcess | null;

// What publishes is closed each time: SQLite shares files between the connections of a process, as no writer does.
beforeEach(() => {
  const builder = new DatabaseBuilder();
  builder.publish(lists);
  builder.database.close();
  ({ path, folder } = builder);
  origin = null;
});

afterEach(async () => {
  await origin?.remove();
  rmSync(folder, { recursive: true });
});

async function start(env: Record<string, string> = {}): Promise<OriginProcess> {
  origin = await OriginProcess.start(path, env);
  return origin;
}

function write<T>(change: (builder: DatabaseBuilder) => T): T {
  const builder = new DatabaseBuilder(path);
  try {
    return change(builder);
  } finally {
    builder.database.close();
  }
}

// Without its -wal, a database cannot be opened by anybody until all have closed it.
async function publish(): Promise<number> {
  let generation: number | null = null;
  await until(() => {
    try {
      generation = write((builder) => builder.publish(lists));
    } catch {
      // tried again
    }
    return generation !== null;
  });
  return generation ?? 0;
}

function run(...command: string[]): void {
  expect(Bun.spawnSync(command).exitCode).toBe(0);
}

async function servedGeneration(): Promise<number> {
  const page = (await (await fetch(`${origin?.url}api/trending`)).json()) as { generation: number };
  return page.generation;
}

test.each([[["-wal", "-shm"]], [["-shm"]], [["-wal"]]])(
  "a database whose %j somebody has deleted is followed",
  async (suffixes) => {
    await start({ WORKERS: "2" });
    for (let round = 0; round < 3; round++) {
      for (const suffix of suffixes) rmSync(path + suffix, { force: true });
      const generation = await publish();
      await until(async () => (await servedGeneration()) === generation);
      await Bun.sleep(200);
    }
    await until(async () => (await origin?.readiness())?.status === "ok");
  },
);

const notFiles = [
  { name: "a FIFO", make: () => run("mkfifo", path) },
  { name: "a folder", make: () => mkdirSync(path) },
  { name: "a device", make: () => symlinkSync("/dev/zero", path) },
];

test.each(notFiles)("$name in place of the database is refused at the start", async ({ make }) => {
  rmSync(path);
  make();
  const { code, stderr } = await OriginProcess.refuse(path);
  expect(code).toBe(1);
  expect(stderr.trim()).toBe(`Cannot open ${path}: it is not a regular file`);
});

test.each(notFiles)(
  "$name that takes the database's place is said, and does not stop a worker",
  async ({ make }) => {
    const { lines } = await start();
    rmSync(path);
    make();
    await until(
      async () => (await origin?.readiness())?.reasons.join().includes("not a regular file") ?? false,
    );
    expect(await servedGeneration()).toBe(1);
    expect(lines.map(({ event }) => event)).not.toContain("worker_exited");
  },
);

test("a worker that hangs is said and replaced", async () => {
  const { lines, url } = await start({ WORKERS: "2" });
  const hung = Number(origin?.workerPids()[1]);
  process.kill(hung, "SIGSTOP");
  await until(
    async () => (await origin?.readiness())?.reasons.join().includes(`${hung} does not report`) ?? false,
  );
  await until(() => lines.some(({ event, worker_pid }) => event === "worker_hung" && worker_pid === hung));
  await until(() => origin?.workerPids().length === 2 && !origin.workerPids().includes(hung));
  await until(async () => (await origin?.readiness())?.status === "ok");
  const requests = Array.from({ length: 40 }, () => fetch(`${url}api/trending`, { keepalive: false }));
  for (const response of await Promise.all(requests)) expect(response.status).toBe(200);
});

test("the worker that answers on the admin port is replaced when it hangs, and its successor answers there", async () => {
  await start();
  const hung = Number(origin?.workerPids()[0]);
  process.kill(hung, "SIGSTOP");
  await until(async () => (await origin?.readiness())?.status === "unreachable"); // asked before it is killed
  await until(async () => (await origin?.readiness())?.status === "ok");
  expect(origin?.workerPids()).not.toContain(hung);
  const metrics = await (await fetch(`${origin?.admin}metrics`)).text();
  expect(metrics).toContain('trendvault_worker_exits_total{reason="hung"} 1\n');
});

test("a worker without file handles is degraded, goes on answering, and recovers", async () => {
  const { url, lines: log } = await start();
  const pid = Number(origin?.workerPids()[0]);
  run("prlimit", "--pid", String(pid), "--nofile=64:64");
  const idle = await Promise.all(
    Array.from({ length: 100 }, () =>
      Bun.connect({ hostname: "127.0.0.1", port: Number(new URL(url).port), socket: { data() {} } }),
    ),
  );
  await until(async () => (await origin?.readiness())?.reasons.join().includes("EMFILE") ?? false);
  write((builder) => builder.publish(lists));
  for (const socket of idle) socket.terminate();
  await until(async () => (await origin?.readiness())?.status === "ok");
  await until(async () => (await servedGeneration()) === 2);
  expect(origin?.workerPids()).toEqual([pid]);
  expect(log.map(({ event }) => event)).not.toContain("worker_exited");
});

test("a dropped table is said, though what is in memory is served", async () => {
  await start();
  expect(await servedGeneration()).toBe(1); // and from now on it is in memory
  write(({ database }) => {
    database.run("PRAGMA foreign_keys = OFF");
    database.run("DROP TABLE trending");
  });
  await until(
    async () => (await origin?.readiness())?.reasons.join().includes("no such table: trending") ?? false,
  );
  expect(await servedGeneration()).toBe(1);
});

test("an inspector that ends or hangs is replaced", async () => {
  await start();
  await until(() => origin?.inspectorPids().length === 1);
  const first = Number(origin?.inspectorPids()[0]);
  process.kill(first, "SIGKILL");
  await until(() => origin?.inspectorPids().length === 1 && !origin.inspectorPids().includes(first));
  const second = Number(origin?.inspectorPids()[0]);
  process.kill(second, "SIGSTOP");
  await until(
    async () => (await origin?.readiness())?.reasons.join().includes("check of the database") ?? false,
  );
  await until(() => origin?.inspectorPids().length === 1 && !origin.inspectorPids().includes(second));
  await until(async () => (await origin?.readiness())?.status === "ok");
});

test("the inspector ends when it has read all, and another one reads what was written", async () => {
  await start();
  await until(() => origin?.inspectorPids().length === 1);
  await until(() => origin?.inspectorPids().length === 0);
  expect((await origin?.readiness())?.status).toBe("ok");
  write(({ database }) => {
    database.run("PRAGMA foreign_keys = OFF");
    database.run("DROP TABLE trending");
  });
  await until(
    async () => (await origin?.readiness())?.reasons.join().includes("no such table: trending") ?? false,
  );
});
