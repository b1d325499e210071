import type { Logger } from "../logging/logger.ts";
import type { WorkerReport } from "./messages.ts";
import { type Metrics, sumExited } from "./metrics.ts";
import { restartDelay } from "./restart-delay.ts";
import type { WorkerProcess } from "./worker-process.ts";

type Worker = Pick<WorkerProcess, "pid" | "startedAt" | "report" | "listening" | "exited" | "stop">;

const quietTimeMs = 10_000; // without a crash, after which the next one counts as the first
const signalDelayMs = 50; // a signal to the whole group may reach a worker first, then this process

/** Keeps a number of workers running, and replaces them one at a time. */
export class WorkerPool {
  readonly #start: () => Worker;
  readonly #log: Logger;
  readonly #workers: Worker[] = [];
  readonly #stoppingWorkers = new WeakSet<Worker>();
  #port: number | null = null;
  #exitedCounters: Metrics = [];
  #crashes = 0;
  #isReplacing = false;
  #replaceAgain = false;
  #isStopping = false;

  /** `start` starts a worker on the port of the others, or the first one (null). */
  constructor(start: (port: number | null) => Worker, log: Logger) {
    this.#start = () => start(this.#port);
    this.#log = log;
  }

  /** Where the workers listen; null before the first one does. */
  get port(): number | null {
    return this.#port;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** The last report of every worker that has sent one. */
  get reports(): WorkerReport[] {
    return this.#workers.flatMap(({ report }) => report ?? []);
  }

  /** What the workers that have exited had counted: counters only ever grow. */
  get exitedCounters(): Metrics {
    return this.#exitedCounters;
  }

  /** Starts the first worker. Null when it listens, or all are being stopped; else its exit code or signal. */
  async open(): Promise<null | number | string> {
    const first = this.#start();
    if (await this.#add(first)) return null;
    await Bun.sleep(signalDelayMs);
    return this.#isStopping ? null : first.exited;
  }

  /** Starts all but the first of `count` workers. Resolves when they listen; one that exits before is restarted. */
  async grow(count: number): Promise<void> {
    if (this.#isStopping) return;
    const others = Array.from({ length: count - 1 }, () => this.#startGuarded());
    await Promise.all(others.map(({ listening }) => listening));
  }

  /**
   * Replaces every worker by a new one, one at a time: the new one listens before the old one stops. A call during a
   * replacement starts another one afterwards: the workers replaced so far may run the program of before.
   */
  async replace(): Promise<void> {
    this.#replaceAgain = true;
    if (this.#isReplacing) return;
    this.#isReplacing = true;
    while (this.#replaceAgain && !this.#isStopping) {
      this.#replaceAgain = false;
      await this.#replaceAll();
    }
    this.#isReplacing = false;
  }

  /** Lets all workers finish their open requests and exit. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#workers.map((worker) => worker.stop()));
  }

  async #replaceAll(): Promise<void> {
    for (const old of [...this.#workers]) {
      const listens = (await old.listening) !== null;
      if (!listens || !this.#workers.includes(old)) continue; // it exited meanwhile, its successor is new
      if (this.#isStopping || !(await this.#replaceOne(old))) return;
    }
  }

  async #replaceOne(old: Worker): Promise<boolean> {
    const worker = this.#start();
    if (!(await this.#add(worker))) {
      this.#forget(worker);
      if (this.#isStopping) return false;
      const facts = { worker_pid: old.pid };
      this.#log(
        "error",
        "worker_replacement_failed",
        "A new worker did not start; the old one stays.",
        facts,
      );
      return false;
    }
    // When the old one crashed meanwhile, it has a successor already, and the new one is one too many.
    const surplus = this.#workers.includes(old) ? old : worker;
    this.#stoppingWorkers.add(surplus);
    await surplus.stop();
    this.#forget(surplus);
    const facts = { old_worker_pid: old.pid, worker_pid: worker.pid };
    this.#log("info", "worker_replaced", "A new worker has replaced an old one.", facts);
    return true;
  }

  #startGuarded(): Worker {
    const worker = this.#start();
    this.#workers.push(worker);
    this.#restartOnExit(worker);
    return worker;
  }

  async #add(worker: Worker): Promise<boolean> {
    this.#workers.push(worker);
    const port = await worker.listening;
    if (port === null) return false;
    this.#port = port;
    this.#restartOnExit(worker);
    return true;
  }

  #restartOnExit(worker: Worker): void {
    void worker.exited.then((exit) => {
      if (this.#isStopping || this.#stoppingWorkers.has(worker)) return;
      this.#forget(worker);
      this.#restart(worker, exit);
    });
  }

  #restart(worker: Worker, exit: number | string): void {
    const wasQuiet = performance.now() - worker.startedAt > quietTimeMs;
    this.#crashes = wasQuiet ? 1 : this.#crashes + 1;
    const delay = restartDelay(this.#crashes);
    const facts = { worker_pid: worker.pid, exit, delay_ms: delay };
    this.#log("error", "worker_exited", "A worker exited unexpectedly; another one will start.", facts);
    setTimeout(() => {
      if (!this.#isStopping) this.#startGuarded();
    }, delay);
  }

  // Both in one turn: between them the sums would drop, and Prometheus would take that for a restart.
  #forget(worker: Worker): void {
    this.#workers.splice(this.#workers.indexOf(worker), 1);
    if (worker.report !== null) this.#exitedCounters = sumExited(this.#exitedCounters, worker.report);
  }
}
