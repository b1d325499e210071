import { parseArgs } from "node:util";
import { type Logger, writeLog } from "../../src/log.ts";
import { FollowFailure } from "./failure.ts";
import { attempt, FailureLog, followStore, type Loop } from "./follow-store.ts";
import { Follower } from "./follower.ts";
import { LocalFile } from "./local-file.ts";
import { Memory } from "./memory.ts";
import { Metrics } from "./metrics.ts";
import { keyReader, readSettings, type Settings } from "./settings.ts";
import { openStore } from "./stores.ts";

const metricsSeconds = 5;
const checkSeconds = 3600;

const stop = new AbortController();
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, () => stop.abort());

// No await here: the bundle with bytecode is CommonJS.
run(readSettingsOrExit()).then((code) => process.exit(code));

function readSettingsOrExit(): Settings {
  try {
    return readSettings(parseOptions(process.argv.slice(2)), process.env);
  } catch (error) {
    console.error(`bin/follow: ${(error as Error).message}\nSee bin/follow --help.`);
    return process.exit(2);
  }
}

async function run(settings: Settings): Promise<number> {
  try {
    return await follow(settings, { log: writeLog, signal: stop.signal });
  } catch (error) {
    if (!(error instanceof FollowFailure)) throw error;
    writeLog("error", "not_started", error.message, { reason: error.reason });
    return error.reason === "held" ? 3 : 5;
  }
}

/**
 * Follows the stores into the file until the signal, or once. Gives the exit code: 0, or 4 when it looked once and a
 * store could not be followed.
 *
 * @throws FollowFailure when the file cannot be written, or another follower has it
 */
async function follow(
  settings: Settings,
  { log, signal }: { log: Logger; signal: AbortSignal },
): Promise<number> {
  const memory = Memory.open(`${settings.database}.follow`);
  const stores = settings.stores.map(({ text }) => text);
  const { retentionSeconds } = settings;
  const file = new LocalFile(settings.database, { stores, retentionSeconds, memory, log });
  const metrics = new Metrics();
  const loops = createLoops(settings, { file, memory, metrics, log });
  const timers = [
    setInterval(() => writeMetrics(settings, metrics, log), metricsSeconds * 1000),
    setInterval(() => file.check(), checkSeconds * 1000),
  ];
  try {
    if (settings.once) return await followOnce(loops, signal);
    await Promise.all(loops.map((loop) => followStore(loop, signal)));
    return 0;
  } finally {
    for (const timer of timers) clearInterval(timer);
    await writeMetrics(settings, metrics, log);
    await file.close();
    memory.close();
  }
}

type Parts = { file: LocalFile; memory: Memory; metrics: Metrics; log: Logger };

function createLoops(settings: Settings, parts: Parts): Loop[] {
  const readKeys = keyReader(settings.keys, parts.log);
  return settings.stores.map((address) => {
    const store = openStore(address, settings.s3, parts.metrics);
    const follower = new Follower(
      {
        ...parts,
        store,
        storeName: address.name,
        readKeys,
        clock: Date.now,
      },
      settings,
    );
    const { log, metrics } = parts;
    const { intervalSeconds } = settings;
    return { store: address.text, poll: (signal) => follower.poll(signal), intervalSeconds, log, metrics };
  });
}

async function followOnce(loops: readonly Loop[], signal: AbortSignal): Promise<number> {
  const failures = await Promise.all(
    loops.map(async (loop) => {
      const failure = await attempt(loop, signal);
      new FailureLog(loop).note(failure);
      return failure;
    }),
  );
  return failures.every((failure) => failure === null) ? 0 : 4;
}

async function writeMetrics({ metricsFile }: Settings, metrics: Metrics, log: Logger): Promise<void> {
  if (metricsFile === null) return;
  try {
    await metrics.write(metricsFile);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    log("warning", "metrics_not_written", `Cannot write ${metricsFile} (${code}).`, { file: metricsFile });
  }
}

/** Reads the command line of bin/follow. @throws Error that says what was expected */
function parseOptions(argv: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      database: { type: "string" },
      metrics: { type: "string" },
      "allow-stale": { type: "boolean", default: false },
      once: { type: "boolean", default: false },
    },
  });
  return {
    stores: positionals,
    database: values.database ?? null,
    metrics: values.metrics ?? null,
    allowStale: values["allow-stale"],
    once: values.once,
  };
}
