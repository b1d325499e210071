import { LocalFile } from "./database/local-file.ts";
import { Memory } from "./database/memory.ts";
import { attempt, FailureLog, followStore, type Loop } from "./follow-store.ts";
import { Follower } from "./follower.ts";
import { readKeys } from "./key-source.ts";
import type { Logger } from "./log.ts";
import { Metrics } from "./metrics.ts";
import type { Settings } from "./settings.ts";
import { countedStore } from "./store/counted-store.ts";
import { openStore } from "./store/open-store.ts";

const metricsSeconds = 5;
const checkSeconds = 3600;

/**
 * Follows the stores into the file until the signal, or once. Gives the exit code: 0, or 4 when it looked once and a
 * store could not be followed.
 *
 * @throws FollowFailure when the file cannot be written, or another follower has it
 */
export async function follow(
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
    writeMetrics(settings, metrics, log);
    await file.close();
    memory.close();
  }
}

type Parts = { file: LocalFile; memory: Memory; metrics: Metrics; log: Logger };

function createLoops(settings: Settings, parts: Parts): Loop[] {
  return settings.stores.map((address) => {
    const store = countedStore(openStore(address, settings.s3), parts.metrics);
    const follower = new Follower(
      {
        ...parts,
        store,
        storeName: address.name,
        readKeys: () => readKeys(settings.keys),
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

function writeMetrics({ metricsFile }: Settings, metrics: Metrics, log: Logger): void {
  if (metricsFile === null) return;
  try {
    metrics.write(metricsFile);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    log("warning", "metrics_not_written", `Cannot write ${metricsFile} (${code}).`, { file: metricsFile });
  }
}
