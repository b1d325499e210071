import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { readOrMakeKeys } from "./key-file.ts";
import type { Options } from "./options.ts";
import { edgePlan, HOST, originPlan } from "./plans.ts";
import { assertPortFree, assertReadable, removeDatabase } from "./preflight.ts";
import { runStack } from "./stack.ts";
import { isEmpty, runEvery, runWriter, SOURCE_FAILED, WriterFailed, type WriterOptions } from "./writer.ts";

const MINUTE_MS = 60_000;

/**
 * Brings the stack up and keeps it up until the signal aborts (resolves with null)
 * or a part dies (resolves with a sentence that says which and why).
 * Whatever is wrong with the arguments is thrown before anything has been started or deleted.
 */
export async function up(
  options: Options,
  { root, signal }: { root: string; signal: AbortSignal },
): Promise<string | null> {
  await assertPortFree(HOST, { port: options.port, option: "--port" });
  if (options.edge) await assertPortFree(HOST, { port: options.edgePort, option: "--edge-port" });
  if (options.source !== null) assertReadable(options.source);
  if (options.fresh) removeDatabase(options.db);
  const { settings, made } = readOrMakeKeys(join(root, ".env"));
  if (made.length > 0) console.log(`Made local keys in .env (git ignores it): ${made.join(", ")}`);

  const sources = options.source === null ? "demo" : "";
  const env = { ...definedEnv(), ...settings, DB_PATH: options.db, SOURCES: sources };
  const writer = { root, db: options.db, env, signal };
  try {
    await fill(options, writer);
  } catch (error) {
    if (signal.aborted) return null; // that is why it failed
    throw error;
  }
  const plans = [
    originPlan(options, { root, env }),
    ...(options.edge ? [edgePlan(options, { root, env })] : []),
  ];
  const whenReady = (stopped: AbortSignal) => {
    console.log(welcome(options));
    return runEvery(MINUTE_MS, writer, stopped);
  };
  return runStack(plans, { signal, whenReady });
}

/** Leaves a migrated, ranked database; fills it first when it is empty. */
async function fill({ source, db }: Options, writer: WriterOptions): Promise<void> {
  mkdirSync(dirname(db), { recursive: true });
  await runWriter(["migrate"], writer);
  if (await isEmpty(writer)) {
    await fillEmpty(source, writer);
  } else if (source !== null) {
    console.log(`${db} holds observations already: ${source} was not read. --fresh starts over.`);
  }
  await runWriter(["rank"], writer);
}

/** Ingests into an empty database. Half a filling is taken away again; a source that broke off is said, and kept. */
async function fillEmpty(source: string | null, writer: WriterOptions): Promise<void> {
  try {
    await runWriter(["ingest", ...(source === null ? ["demo"] : ["--shift-to-now", source])], writer);
  } catch (error) {
    const brokeOff = error instanceof WriterFailed && error.exitCode === SOURCE_FAILED;
    if (brokeOff && !(await isEmpty(writer))) {
      console.error("The source broke off: what it gave before that is served.");
      return;
    }
    removeDatabase(writer.db);
    throw error;
  }
}

function welcome({ port, edge, edgePort, db }: Options): string {
  const url = `http://${HOST}:${port}/api/trending`;
  const edgeLine = edge ? `\n  edge      http://${HOST}:${edgePort}/api/trending` : "";
  return `
TrendVault is up.

  origin    ${url}${edgeLine}
  database  ${db}; the writer runs every minute

  curl '${url}?region=DE&limit=3'

Ctrl-C stops everything.
`;
}

function definedEnv(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
