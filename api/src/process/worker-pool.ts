import { type CounterSnapshot, sumCounters } from "../serving/counters.ts";
import type { Reports } from "./admin.ts";
import type { Logger } from "./log.ts";
import { restartDelay } from "./restart-delay.ts";
import type { WorkerProcess } from "./worker-process.ts";

type Worker = Pick<WorkerProcess, "pid" | "startedAt" | "report" | "listening" | "exited" | "leave">;

const quietTime = 10_000; // milliseconds without a crash, after which the next one counts as the first
const signalDelay = 50; // milliseconds: a signal to the whole group may reach a worker first, then this process

/** Keeps a number of workers running, and replaces them one at a time. */
export class WorkerPool {
  readonly #start: () => Worker;
  readonly #log: Logger;
  readonly #workers: Worker[] = [];
  readonly #leaving = new WeakSet<Worker>();
  #port: number | null = null;
  #departed: CounterSnapshot = sumCounters([]);
  #crashes = 0;
  #replacing = false;
  #replaceAgain = false;
  #stopping = false;

  /** `start` starts a worker on the port of the others, or the first one. */
  constructor(start: (port: number | null) => Worker, log: Logger) {
    this.#start = () => start(this.#port);
    this.#log = log;
  }

  /** Where the workers listen; null before the first one does. */
  get port(): number | null {
    return this.#port;
  }

  get isStopping(): boolean {
    return this.#stopping;
  }

  get reports(): Reports {
    const running = this.#workers.flatMap(({ report }) => report ?? []);
    return { running, departed: this.#departed };
  }

  /** Starts the first worker. Null when it listens, or all are being stopped, else how it ended. */
  async open(): Promise<null | number | string> {
    const first = this.#start();
    if (await this.#add(first)) return null;
    await Bun.sleep(signalDelay);
    return this.#stopping ? null : first.exited;
  }

  /** Starts all but the first of so many workers. Resolves when they listen; who ends before is restarted. */
  async grow(count: number): Promise<void> {
    if (this.#stopping) return;
    const others = Array.from({ length: count - 1 }, () => this.#startGuarded());
    await Promise.all(others.map(({ listening }) => listening));
  }

  /**
   * Replaces every worker by a new one, one at a time: the new one listens before the old one leaves. Called
   * meanwhile, it does so once more afterwards: the workers replaced so far may be of the program before.
   */
  async replace(): Promise<void> {
    this.#replaceAgain = true;
    if (this.#replacing) return;
    this.#replacing = true;
    while (this.#replaceAgain && !this.#stopping) {
      this.#replaceAgain = false;
      await this.#replaceAll();
    }
    this.#replacing = false;
  }

  /** Lets all workers finish and leave. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#workers.map((worker) => worker.leave()));
  }

  async #replaceAll(): Promise<void> {
    for (const old of [...this.#workers]) {
      const listens = (await old.listening) !== null;
      if (!listens || !this.#workers.includes(old)) continue; // it ended meanwhile, its successor is new
      if (this.#stopping || !(await this.#replaceOne(old))) return;
    }
  }

  async #replaceOne(old: Worker): Promise<boolean> {
    const worker = this.#start();
    if (!(await this.#add(worker))) {
      this.#forget(worker);
      if (this.#stopping) return false;
      this.#log("error", "replacement did not start, keeping the old worker", { worker: old.pid });
      return false;
    }
    // When the old one crashed meanwhile, it gets a successor anyway, and the new one is one too many.
    const surplus = this.#workers.includes(old) ? old : worker;
    this.#leaving.add(surplus);
    await surplus.leave();
    this.#forget(surplus);
    this.#log("info", "worker replaced", { old: old.pid, worker: worker.pid });
    return true;
  }

  #startGuarded(): Worker {
    const worker = this.#start();
    this.#workers.push(worker);
    this.#guard(worker);
    return worker;
  }

  async #add(worker: Worker): Promise<boolean> {
    this.#workers.push(worker);
    const port = await worker.listening;
    if (port === null) return false;
    this.#port = port;
    this.#guard(worker);
    return true;
  }

  #guard(worker: Worker): void {
    void worker.exited.then((how) => {
      if (this.#stopping || this.#leaving.has(worker)) return;
      this.#forget(worker);
      this.#restart(worker, how);
    });
  }

  #restart(worker: Worker, how: number | string): void {
    const wasQuiet = performance.now() - worker.startedAt > quietTime;
    this.#crashes = wasQuiet ? 1 : this.#crashes + 1;
    const delay = restartDelay(this.#crashes);
    this.#log("error", "worker ended, starting another", { worker: worker.pid, how, delay_ms: delay });
    setTimeout(() => {
      if (!this.#stopping) this.#startGuarded();
    }, delay);
  }

  // Both at once: between them the sums would drop, and Prometheus would take that for a restart.
  #forget(worker: Worker): void {
    this.#workers.splice(this.#workers.indexOf(worker), 1);
    if (worker.report !== null) this.#departed = sumCounters([this.#departed, worker.report.counters]);
  }
}
