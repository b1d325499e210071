import { type CounterSnapshot, sumCounters } from "../serving/counters.ts";
import type { Reports } from "./admin.ts";
import type { Logger } from "./log.ts";
import { restartDelay } from "./restart-delay.ts";
import type { WorkerProcess } from "./worker-process.ts";

const quietTime = 10_000; // milliseconds without a crash, after which the next one counts as the first

/** Keeps a number of workers running, and replaces them one at a time. */
export class WorkerPool {
  readonly #start: () => WorkerProcess;
  readonly #log: Logger;
  readonly #workers: WorkerProcess[] = [];
  readonly #leaving = new WeakSet<WorkerProcess>();
  #departed: CounterSnapshot = sumCounters([]);
  #crashes = 0;
  #replacing = false;
  #stopping = false;

  /** Begins with a worker that listens. `start` starts a further one. */
  constructor(first: WorkerProcess, start: () => WorkerProcess, log: Logger) {
    this.#start = start;
    this.#log = log;
    this.#workers.push(first);
    this.#guard(first);
  }

  get reports(): Reports {
    const running = this.#workers.flatMap(({ report }) => report ?? []);
    return { running, departed: this.#departed };
  }

  /** Starts workers until there are so many. Null when they listen, else how the one ended that does not. */
  async grow(count: number): Promise<null | number | string> {
    for (const worker of Array.from({ length: count - 1 }, () => this.#start())) {
      if (!(await this.#add(worker))) return worker.exited;
    }
    return null;
  }

  /** Replaces every worker by a new one, one at a time: the new one listens before the old one leaves. */
  async replace(): Promise<void> {
    if (this.#replacing || this.#stopping) return;
    this.#replacing = true;
    for (const old of [...this.#workers]) {
      if (!this.#workers.includes(old)) continue; // it crashed meanwhile, its successor is new
      if (this.#stopping || !(await this.#replaceOne(old))) break;
    }
    this.#replacing = false;
  }

  /** Lets all workers finish and leave. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#workers.map((worker) => worker.leave()));
  }

  kill(): void {
    this.#stopping = true;
    for (const worker of this.#workers) worker.kill();
  }

  async #replaceOne(old: WorkerProcess): Promise<boolean> {
    const worker = this.#start();
    if (!(await this.#add(worker))) {
      this.#forget(worker);
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

  async #add(worker: WorkerProcess): Promise<boolean> {
    this.#workers.push(worker);
    if ((await worker.listening) === null) return false;
    this.#guard(worker);
    return true;
  }

  #guard(worker: WorkerProcess): void {
    void worker.exited.then((how) => {
      if (this.#stopping || this.#leaving.has(worker)) return;
      this.#forget(worker);
      this.#restart(worker, how);
    });
  }

  #restart(worker: WorkerProcess, how: number | string): void {
    const wasQuiet = performance.now() - worker.startedAt > quietTime;
    this.#crashes = wasQuiet ? 1 : this.#crashes + 1;
    const delay = restartDelay(this.#crashes);
    this.#log("error", "worker ended, starting another", { worker: worker.pid, how, delay_ms: delay });
    setTimeout(() => {
      if (this.#stopping) return;
      const successor = this.#start();
      this.#workers.push(successor);
      this.#guard(successor);
    }, delay);
  }

  // Both at once: between them the sums would drop, and Prometheus would take that for a restart.
  #forget(worker: WorkerProcess): void {
    this.#workers.splice(this.#workers.indexOf(worker), 1);
    if (worker.report !== null) this.#departed = sumCounters([this.#departed, worker.report.counters]);
  }
}
