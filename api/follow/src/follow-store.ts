import type { Logger } from "../../src/log.ts";
import { FollowFailure } from "./failure.ts";
import type { Metrics } from "./metrics.ts";

export type Loop = {
  /** The store's address. */
  store: string;
  poll: (signal: AbortSignal) => Promise<boolean>;
  intervalSeconds: number;
  log: Logger;
  metrics: Metrics;
};

const repeatSeconds = 60; // a failure that lasts is said so often

/** Polls a store until the signal. No failure ends it: what was adopted before stays. */
export async function followStore(loop: Loop, signal: AbortSignal): Promise<void> {
  const { intervalSeconds } = loop;
  const failures = new FailureLog(loop);
  while (!signal.aborted) {
    const failure = await attempt(loop, signal);
    if (signal.aborted) return;
    failures.note(failure);
    const delay = retryDelaySeconds(failures.inARow, { intervalSeconds, random: Math.random() });
    await sleep(delay, signal);
  }
}

/** One look: null when it went well. */
export async function attempt(loop: Loop, signal: AbortSignal): Promise<FollowFailure | null> {
  try {
    await loop.poll(signal);
    return null;
  } catch (error) {
    if (error instanceof FollowFailure) return error;
    const { message, stack } = error as Error;
    return new FollowFailure("internal", `A bug: ${message} ${stack?.split("\n")[1]?.trim() ?? ""}`, {
      cause: error,
    });
  }
}

/** Says a failure once, then each minute while it lasts, and its end. */
export class FailureLog {
  inARow = 0;
  readonly #loop: Loop;
  #said: { what: string; at: number } | null = null;

  constructor(loop: Loop) {
    this.#loop = loop;
    loop.metrics.set("failing", { store: loop.store }, 0);
  }

  note(failure: FollowFailure | null, now = performance.now()): void {
    const { store, log, metrics } = this.#loop;
    metrics.set("failing", { store }, failure === null ? 0 : 1);
    if (failure === null) {
      if (this.#said !== null) log("info", "store_recovered", `${store} is followed again.`, { store });
      this.inARow = 0;
      this.#said = null;
      return;
    }
    this.inARow++;
    const { reason, message } = failure;
    metrics.add("failures_total", { store, reason });
    const what = message.replace(/[0-9]+/g, ""); // ages rise from look to look
    const isSaid = this.#said?.what === what && now < this.#said.at + repeatSeconds * 1000;
    if (isSaid) return;
    this.#said = { what, at: now };
    log("error", "store_failed", message, { store, reason, failures_in_a_row: this.inARow });
  }
}

async function sleep(seconds: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, seconds * 1000);
  const wake = () => resolve();
  signal.addEventListener("abort", wake);
  await promise;
  signal.removeEventListener("abort", wake); // this one outlives the sleep
  clearTimeout(timer);
}

const longestSeconds = 15;

/**
 * Seconds until the next look: the interval, and after failures in a row up to 15 s, between half of that and all of it,
 * so that many followers do not come back at the same moment. `random` is from 0 to below 1.
 */
export function retryDelaySeconds(
  failures: number,
  { intervalSeconds, random }: { intervalSeconds: number; random: number },
): number {
  if (failures === 0) return intervalSeconds;
  const longest = Math.max(intervalSeconds, Math.min(longestSeconds, intervalSeconds * 2 ** failures));
  return longest * (0.5 + random / 2);
}
