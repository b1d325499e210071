import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { drawPort } from "../../../edge-worker/test/free-port.ts";

const main = resolve(import.meta.dir, "../main.ts");
const running: Bun.Subprocess[] = [];

/**
 * Runs `bin/up` (without its set-up) with these arguments. Unless they say otherwise, with a new database and new keys
 * in a temporary folder, and without the edge.
 */
export function start(args: string[], environment: Record<string, string> = {}) {
  const db = args.includes("--db") ? [] : ["--db", newDatabasePath()];
  const edge = args.includes("--edge-port") ? [] : ["--no-edge"];
  const admin = args.includes("--admin-port") ? [] : ["--admin-port", String(freePortNow())];
  const demo = args.includes("--demo-port") ? [] : ["--demo-port", String(freePortNow())];
  const envFile = args.includes("--env-file") ? [] : ["--env-file", newEnvFile()];
  const command = [
    process.execPath,
    "--no-env-file",
    main,
    ...args,
    ...db,
    ...edge,
    ...admin,
    ...demo,
    ...envFile,
  ];
  const child = Bun.spawn(["sh", "-c", 'exec "$@" 2>&1', "sh", ...command], {
    stdin: "ignore",
    stdout: "pipe",
    env: { ...process.env, ...environment },
  });
  running.push(child);
  const output = readInto(child.stdout);
  return {
    pid: child.pid,
    exited: child.exited,
    /** Resolves once the text has been printed; rejects, showing all output, when the process ends without it. */
    waitForOutput: (text: string) => output.until((printed) => printed.includes(text), text),
    /** The same for a pattern. Resolves with what it found. */
    waitForMatch: (pattern: RegExp) => output.until((printed) => pattern.exec(printed), String(pattern)),
    stop: (signal: NodeJS.Signals) => {
      child.kill(signal);
      return child.exited;
    },
  };
}

function freePortNow(): number {
  for (;;) {
    const port = drawPort();
    try {
      Bun.listen({ hostname: "127.0.0.1", port, socket: { data: () => {} } }).stop(true);
      return port;
    } catch {
      // another program listens there
    }
  }
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
  const until = async <T>(find: (printed: string) => T | null | false, wanted: string): Promise<T> => {
    for (;;) {
      const found = find(text);
      if (found) return found;
      if (ended) throw new Error(`It ended without printing "${wanted}":\n${text}`);
      await changed.promise;
    }
  };
  return { until, done };
}

/** For afterEach: no test leaves a stack behind. */
export async function stopAll(): Promise<void> {
  for (const child of running.splice(0)) {
    child.kill("SIGTERM");
    await child.exited;
  }
}

/** Is removed when this process ends. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "trendvault-up-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A path in a new folder, whose `data` is still to be made. */
export function newDatabasePath(): string {
  return join(newFolder(), "data/trendvault.db");
}

/** A path in a new folder, for the file with the keys. */
export function newEnvFile(): string {
  return join(newFolder(), "local.env");
}

/** The cumulative views of one video, hour by hour from noon of 2017-09-13; in GB unless it names another region. */
export type Series = { id: string; views: number[]; region?: string };

/** Over three hours one video gains more and more, the other less and less. */
export const twoVideos: Series[] = [
  { id: "rising", views: [1_000, 2_000, 9_000] },
  { id: "falling", views: [1_000, 8_000, 9_000] },
];

/** Writes the series as NDJSON and returns the file's path. */
export function sourceFile(series: readonly Series[]): string {
  const path = join(newFolder(), "views.ndjson");
  const lines = series.flatMap(({ id, views, region = "GB" }) =>
    views.map((count, hour) => ({ ...observation(id, count, hour), region })),
  );
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return path;
}

function observation(id: string, views: number, hour: number) {
  return {
    id,
    observed_at: new Date(Date.UTC(2017, 8, 13, 12 + hour)).toISOString(),
    views,
    title: `The ${id} one`,
    channel: id,
    thumb_base: `https://thumbs.example/${id}`,
  };
}

/** On a busy machine an answer may take the origin longer than the edge waits; asking again counts as a miss. */
export async function fetchBuilt(url: string): Promise<Response> {
  for (;;) {
    const response = await fetch(url);
    if (response.status !== 503 && response.status !== 429) return response;
    await Bun.sleep(500);
  }
}
