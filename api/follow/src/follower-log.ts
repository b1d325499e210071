import { clockSkewSeconds } from "@trendvault/contract/lists";
import type { Pointer } from "@trendvault/contract/pointer";
import type { Accepted } from "./database/memory.ts";
import { ageSeconds } from "./judge-pointer.ts";
import type { Logger } from "./log.ts";
import type { Metrics } from "./metrics.ts";

/** What one follower says in the log and in metrics, each thing once until it changes. */
export class FollowerLog {
  readonly #store: string;
  readonly #log: Logger;
  readonly #metrics: Metrics;
  readonly #clock: () => number;
  #isStale = false;
  #saidClockSeconds = 0;

  constructor({
    store,
    log,
    metrics,
    clock,
  }: { store: { address: string }; log: Logger; metrics: Metrics; clock: () => number }) {
    this.#store = store.address;
    this.#log = log;
    this.#metrics = metrics;
    this.#clock = clock;
  }

  noteRead(): void {
    this.#set("read_timestamp_seconds", Math.floor(this.#clock() / 1000));
  }

  /** `startedAt` is in milliseconds. */
  sayAdopted({ pointer }: Accepted, startedAt: number): void {
    const { generation, published_at, file } = pointer;
    const lag = Math.max(0, (this.#clock() - Date.parse(published_at)) / 1000);
    const build = (this.#clock() - startedAt) / 1000;
    this.#log("info", "adopted", `Generation ${generation} of ${this.#store} is in the file.`, {
      store: this.#store,
      generation,
      lag_seconds: lag,
      build_seconds: build,
      bytes: file.bytes,
    });
    this.#metrics.add("adopted_total", { store: this.#store });
    this.#set("generation", generation);
    this.#set("published_timestamp_seconds", Date.parse(published_at) / 1000);
    this.#set("adopted_timestamp_seconds", Math.floor(this.#clock() / 1000));
    this.#set("lag_seconds", lag);
    this.#set("build_seconds", build);
  }

  /** Both pointers are signed: who has the line can prove it. */
  sayHistoryDiffers(accepted: Accepted, held: Accepted | null): void {
    const message = `${this.#store} has another history than the one that was read here before: see docs/audit.md.`;
    this.#log("error", "history_differs", message, {
      store: this.#store,
      accepted_before: held?.text,
      accepted_now: accepted.text,
    });
  }

  sayStale(held: Pointer | null, maxAgeSeconds: number): void {
    const age = held === null ? 0 : ageSeconds(held, this.#clock());
    const isStale = age > maxAgeSeconds;
    if (isStale && !this.#isStale)
      this.#log(
        "warning",
        "store_stale",
        `${this.#store} has had nothing new for ${age} s: see the writer.`,
        {
          store: this.#store,
          generation: held?.generation,
          age_seconds: age,
        },
      );
    this.#isStale = isStale;
  }

  /** Null when the store does not say. */
  sayClock(clockSeconds: number | null): void {
    if (clockSeconds === null) return;
    this.#set("clock_difference_seconds", clockSeconds);
    const isWrong = Math.abs(clockSeconds) > clockSkewSeconds;
    const isSaid = Math.abs(clockSeconds - this.#saidClockSeconds) <= clockSkewSeconds;
    if (isSaid) return;
    this.#saidClockSeconds = isWrong ? clockSeconds : 0;
    if (!isWrong) return;
    const message = `The clock of ${this.#store} is ${clockSeconds} s ahead of this machine's: set the one that is wrong.`;
    this.#log("warning", "clock_differs", message, {
      store: this.#store,
      difference_seconds: clockSeconds,
    });
  }

  #set(name: Parameters<Metrics["set"]>[0], value: number): void {
    this.#metrics.set(name, { store: this.#store }, value);
  }
}
