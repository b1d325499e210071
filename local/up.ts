import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { readOrMakeKeyFile } from "./key-file.ts";
import type { Options } from "./options.ts";
import { Part } from "./part.ts";
import { assertPortFree, assertReadable, removeDatabase } from "./preflight.ts";
import { isEmpty, runEvery, runWriter, type WriterOptions } from "./writer.ts";

const HOST = "127.0.0.1";
const MINUTE_MS = 60_000;
const START_DEADLINE_MS = 15_000;

/**
 * Brings the stack up and keeps it up until the signal aborts (resolves with null)
 * or a part dies (resolves with a sentence that says which and why).
 * Whatever is wrong with the arguments is thrown before anything has been started or deleted.
 */
export async function up(
  options: Options,
  { root, signal }: { root: string; signal: AbortSignal },
): Promise<string | null> {
  await assertPortFree(HOST, options.port);
  if (options.source !== null) assertReadable(options.source);
  if (options.fresh) removeDatabase(options.db);
  const { settings, made } = readOrMakeKeyFile(join(root, ".env"));
  if (made) console.log("Made local keys in .env (git ignores it).");

  const sources = options.source === null ? "demo" : "";
  const env = { ...definedEnv(), ...settings, DB_PATH: options.db, SOURCES: sources };
  const writer = { root, db: options.db, env };
  await fill(options, writer);
  if (signal.aborted) return null;
  const origin = startOrigin(options, { root, env });
  const end = await keepUp([origin], { options, writer, signal });
  await origin.stop();
  return end;
}

/** Leaves a migrated, ranked database; fills it first when it is empty. */
async function fill({ source, db }: Options, writer: WriterOptions): Promise<void> {
  mkdirSync(dirname(db), { recursive: true });
  await runWriter(["migrate"], writer);
  if (await isEmpty(writer)) {
    await runWriter(["ingest", ...(source === null ? ["demo"] : ["--shift-to-now", source])], writer);
  } else if (source !== null) {
    console.log(`${db} holds observations already: ${source} was not read. --fresh starts over.`);
  }
  await runWriter(["rank"], writer);
}

function startOrigin(
  { db, port }: Options,
  { root, env }: { root: string; env: Record<string, string> },
): Part {
  return new Part("origin", [process.execPath, "--no-env-file", join(root, "api/src/main.ts")], {
    cwd: root,
    env: { ...env, HOST, PORT: String(port), ADMIN_HOST: HOST, ADMIN_PORT: "0" },
    logPath: join(dirname(db), "log/origin.log"),
  });
}

type Watched = { options: Options; writer: WriterOptions; signal: AbortSignal };

/** Waits for the first answer, then runs the writer every minute until the signal aborts or a part dies. */
async function keepUp(parts: readonly Part[], { options, writer, signal }: Watched): Promise<string | null> {
  const ended = Promise.race([aborted(signal), ...parts.map((part) => part.died())]);
  const stopped = new AbortController();
  ended.finally(() => stopped.abort());
  const url = `http://${HOST}:${options.port}`;
  const ready = await Promise.race([ended, answers(`${url}/healthz`, stopped.signal)]);
  if (ready !== true) return ready;

  console.log(welcome(url, options));
  await runEvery(MINUTE_MS, writer, stopped.signal);
  return ended;
}

function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((done) => signal.addEventListener("abort", () => done(null), { once: true }));
}

/** Resolves with true at the first answer, or with a sentence when there was none before the deadline. */
async function answers(url: string, stopped: AbortSignal): Promise<true | string> {
  const deadline = Date.now() + START_DEADLINE_MS;
  while (Date.now() < deadline && !stopped.aborted) {
    const answered = await fetch(url, { signal: AbortSignal.timeout(1_000) }).then(
      () => true,
      () => false, // not listening yet: that is what we wait for
    );
    if (answered) return true;
    await Bun.sleep(20);
  }
  return `The origin did not answer at ${url} within ${START_DEADLINE_MS / 1000} seconds.`;
}

function welcome(url: string, { db }: Options): string {
  return `
TrendVault is up.

  origin    ${url}/api/trending
  database  ${db}; the writer runs every minute

  curl '${url}/api/trending?region=DE&limit=3'

Ctrl-C stops everything.
`;
}

function definedEnv(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
