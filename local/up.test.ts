import { Database } from "bun:sqlite";
import { afterEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

const main = resolve(import.meta.dir, "main.ts");
const running: Bun.Subprocess[] = [];

afterEach(async () => {
  for (const child of running.splice(0)) {
    child.kill("SIGTERM");
    await child.exited;
  }
});

test("an NDJSON source is up with its list, moved to now; Ctrl-C stops all of it with exit code 0", async () => {
  const port = await freePort();
  const stack = start(["--source", sourceFile(), "--port", String(port)]);
  await stack.prints("TrendVault is up.");
  const list = await getList(port);
  expect(list.items.map((item) => item.id)).toEqual(["rising", "falling"]);
  expect(Date.now() - Date.parse(list.newest_observed_at)).toBeLessThan(60_000);

  expect(await stack.stop("SIGINT")).toBe(0);
  await expect(getList(port)).rejects.toThrow();
});

test("a second run serves the same database without reading the source again", async () => {
  const port = await freePort();
  const words = ["--source", sourceFile(), "--db", newDatabasePath(), "--port", String(port)];
  const first = start(words);
  await first.prints("TrendVault is up.");
  const before = await getList(port);
  await first.stop("SIGTERM");

  const second = start(words);
  await second.prints("--fresh starts over");
  await second.prints("TrendVault is up.");
  expect((await getList(port)).newest_observed_at).toBe(before.newest_observed_at);
});

test("an origin that is killed takes the stack down, and is named", async () => {
  const port = await freePort();
  const db = newDatabasePath();
  const stack = start(["--source", sourceFile(), "--db", db, "--port", String(port)]);
  await stack.prints("TrendVault is up.");
  const { pid } = (await Bun.file(join(db, "../log/origin.log")).text())
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as { pid?: number })
    .find((line) => line.pid !== undefined) as { pid: number };
  process.kill(pid, "SIGKILL");
  await stack.prints("The origin was killed by SIGKILL.");
  expect(await stack.exited).toBe(1);
});

test("a port in use is one sentence, and nothing is started or written", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
  const { port } = server.address() as { port: number };
  const db = newDatabasePath();
  const stack = start(["--db", db, "--port", String(port)]);
  await stack.prints(`bin/up: Port ${port} is in use`);
  expect(await stack.exited).toBe(1);
  expect(await Bun.file(db).exists()).toBe(false);
  server.close();
});

test("a database of a newer schema is refused with what to do", async () => {
  const db = newDatabasePath();
  mkdirSync(dirname(db));
  using database = new Database(db, { create: true });
  database.run(
    "CREATE TABLE schema_migrations (version INTEGER, name TEXT, checksum TEXT, applied_at INTEGER)",
  );
  database.run("INSERT INTO schema_migrations VALUES (99, 'the_future', 'x', 1)");
  const stack = start(["--db", db, "--port", String(await freePort())]);
  expect(await stack.exited).toBe(1);
  await stack.prints("99");
});

function start(words: string[]) {
  const db = words.includes("--db") ? [] : ["--db", newDatabasePath()];
  const command = [process.execPath, main, ...words, ...db];
  const child = Bun.spawn(["sh", "-c", 'exec "$@" 2>&1', "sh", ...command], {
    stdin: "ignore",
    stdout: "pipe",
  });
  running.push(child);
  const output = readInto(child.stdout);
  return {
    exited: child.exited,
    /** Resolves once the text has been printed; rejects, showing all output, when the process ends without it. */
    prints: (text: string) => output.until(text),
    stop: (signal: NodeJS.Signals) => {
      child.kill(signal);
      return child.exited;
    },
  };
}

function readInto(stream: ReadableStream<Uint8Array>) {
  let text = "";
  let changed = Promise.withResolvers<void>();
  let ended = false;
  const decoder = new TextDecoder();
  const done = (async () => {
    for await (const chunk of stream) {
      text += decoder.decode(chunk, { stream: true });
      changed.resolve();
      changed = Promise.withResolvers();
    }
    ended = true;
    changed.resolve();
  })();
  const until = async (wanted: string) => {
    while (!text.includes(wanted)) {
      if (ended) throw new Error(`It ended without printing "${wanted}":\n${text}`);
      await changed.promise;
    }
  };
  return { until, done };
}

function newDatabasePath(): string {
  return join(mkdtempSync(join(tmpdir(), "trendvault-up-")), "data/trendvault.db"); // in a folder to be made
}

/** Two videos over three hours of 2017: one gains more and more, the other less and less. */
function sourceFile(): string {
  const path = join(mkdtempSync(join(tmpdir(), "trendvault-source-")), "views.ndjson");
  const views = { rising: [1_000, 2_000, 9_000], falling: [1_000, 8_000, 9_000] };
  const lines = Object.entries(views).flatMap(([id, counts]) =>
    counts.map((count, hour) => ({
      id,
      region: "GB",
      observed_at: `2017-09-13T1${hour}:00:00Z`,
      views: count,
      title: `The ${id} one`,
      channel: id,
      thumb_base: `https://thumbs.example/${id}`,
    })),
  );
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return path;
}

type List = { newest_observed_at: string; items: { id: string }[] };

async function getList(port: number): Promise<List> {
  const response = await fetch(`http://127.0.0.1:${port}/api/trending?region=GB`);
  return (await response.json()) as List;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}
