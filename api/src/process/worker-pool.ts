import type { Environment } from "../key-files.ts";
import type { Logger } from "../log.ts";
import { type CounterValues, sumCounters } from "../serving/counters.ts";
import {
  type Launch,
  replacedSignal,
  type SupervisorMessage,
  type WorkerMessage,
  type WorkerReport,
} from "./messages.ts";

type Worker = Pick<WorkerProcess, keyof WorkerProcess>; // what is public, which a test can stand in for

const quietTimeMs = 10_000; // without a crash, after which the next one counts as the first
const suspectAfterMs = 2000; // without a report, which comes every second
const replaceAfterMs = 3000;
const longestStarvingMs = 15_000; // without a processor: it is given so much time more
const startTimeoutMs = 15_000; // until the first report
const longestPauseMs = 2000; // of this process, after which it has to hear from the workers anew
const spawnRetryMs = 1000;
const muchWork = 10_000; // requests to all workers
const restMs = 180_000;
const restingRequests = 180; // at most, in that time: probes, and an edge that nobody asks
const signalDelayMs = 50; // a signal to the whole group may reach a worker first, then this process

/** Keeps a number of workers running, and replaces them one at a time. */
export class WorkerPool {
  readonly #start: () => Worker;
  readonly #log: Logger;
  readonly #workers: Worker[] = [];
  readonly #stoppingWorkers = new WeakSet<Worker>();
  #port: number | null = null;
  #wanted = 1;
  #exitedCounters: CounterValues | null = null;
  readonly #exits = { crashed: 0, hung: 0 };
  #crashes = 0;
  #isReplacing = false;
  #replaceAgain = false;
  #isStopping = false;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #listeningSince = 0;
  /** Since when the workers had hardly anything to answer, what they had answered by then, and when that was looked at. */
  #rest = { since: 0, answered: 0, lookedAt: Number.NEGATIVE_INFINITY };

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

  /** What the workers that have exited had counted, null for none: counters only ever grow. */
  get exitedCounters(): CounterValues | null {
    return this.#exitedCounters;
  }

  get exits() {
    return this.#exits;
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
    this.#wanted = count;
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
      await this.#replaceAll().catch((error) => this.#logFailedStart(error));
    }
    this.#isReplacing = false;
  }

  /**
   * Replaces the workers when they rest after much work, and nobody is connected. What the engine has compiled by then, the
   * pages of its program and the holes in its heap are 10 MB, which a process gives back with its end and not before. Call
   * it twice a second while all is well, and not while anything is degraded: old workers may have in memory what new ones
   * cannot read. `now` is of `performance.now()`.
   */
  replaceRested(now: number): void {
    const { since, answered: before, lookedAt } = this.#rest;
    const answered = this.reports.reduce((sum, { counters }) => sum + countRequests(counters), 0);
    const isNew = now - lookedAt > longestPauseMs || Math.abs(answered - before) > restingRequests;
    this.#rest = isNew ? { since: now, answered, lookedAt: now } : { ...this.#rest, lookedAt: now };
    if (isNew || now - since < restMs || answered < muchWork || this.#isStopping) return;
    // A client that is connected could send a request when its connection is closed.
    const isFree = ({ connections, degradedReason }: WorkerReport) =>
      connections === 0 && degradedReason === null;
    if (!this.reports.every(isFree)) return;
    this.#rest = { since: now, answered, lookedAt: now };
    const what = "The workers rest after much work; new ones take their place, which gives memory back.";
    this.#log("info", "workers_rested", what, { answered });
    void this.replace();
  }

  /** Lets the workers whose last report is selected open the database anew. */
  reopen(isSelected: (report: WorkerReport) => boolean): void {
    for (const worker of this.#workers) {
      if (worker.report !== null && isSelected(worker.report)) worker.reopen();
    }
  }

  /** Lets all workers finish their open requests and exit. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#workers.map((worker) => worker.stop()));
  }

  /** Sentences about workers that hang or are missing. `now` is of `performance.now()`. */
  describe(now: number): string[] {
    const running = this.#workers.filter(({ report }) => report !== null);
    const reasons = running
      .filter((worker) => this.#silence(worker, now) > suspectAfterMs)
      .map(({ pid }) => `Worker ${pid} does not report; it is replaced when that lasts`);
    if (running.length < this.#wanted)
      reasons.push(`Only ${running.length} of ${this.#wanted} workers are running; another one is started`);
    return reasons;
  }

  /** Replaces workers that hang. Call it twice a second; `now` is of `performance.now()`. */
  replaceSilent(now: number): void {
    if (now - this.#lookedAt > longestPauseMs) this.#listeningSince = now;
    this.#lookedAt = now;
    for (const worker of [...this.#workers]) {
      if (this.#isStopping || this.#stoppingWorkers.has(worker)) continue;
      const silence = this.#silence(worker, now);
      if (worker.report === null && silence > startTimeoutMs) worker.kill();
      if (worker.report !== null && this.#isHung(worker, silence)) this.#replaceHung(worker, silence);
    }
  }

  // What this process did not hear while it was stopped itself does not count.
  #silence({ lastMessageAt }: Worker, now: number): number {
    return now - Math.max(lastMessageAt, this.#listeningSince);
  }

  // Another worker in its place would have no processor either, and the requests of this one would be torn for nothing.
  #isHung(worker: Worker, silence: number): boolean {
    return (
      silence > replaceAfterMs && silence - Math.min(worker.starvedMs, longestStarvingMs) > replaceAfterMs
    );
  }

  // Its end is not waited for: while it waits for a disk, it cannot end.
  #replaceHung(worker: Worker, silence: number): void {
    this.#stoppingWorkers.add(worker);
    this.#exits.hung++;
    worker.kill();
    this.#forget(worker);
    const facts = { worker_pid: worker.pid, silent_ms: Math.round(silence) };
    this.#log(
      "error",
      "worker_hung",
      "A worker did not report any more; another one takes its place.",
      facts,
    );
    this.#startLater(worker);
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
    await surplus.stop(replacedSignal);
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
    this.#exits.crashed++;
    const delay = this.#startLater(worker);
    const facts = { worker_pid: worker.pid, exit, delay_ms: delay };
    this.#log("error", "worker_exited", "A worker exited unexpectedly; another one will start.", facts);
  }

  // Starts the successor of a worker, and gives the milliseconds until then.
  #startLater({ startedAt }: Worker): number {
    const wasQuiet = performance.now() - startedAt > quietTimeMs;
    this.#crashes = wasQuiet ? 1 : this.#crashes + 1;
    const delay = restartDelay(this.#crashes);
    setTimeout(() => this.#startSuccessor(), delay);
    return delay;
  }

  #startSuccessor(): void {
    if (this.#isStopping) return;
    try {
      this.#startGuarded();
    } catch (error) {
      this.#logFailedStart(error);
      setTimeout(() => this.#startSuccessor(), spawnRetryMs);
    }
  }

  #logFailedStart(error: unknown): void {
    this.#log("error", "worker_not_started", "A process cannot be started.", { error: String(error) });
  }

  // Both in one turn: between them the sums would drop, and Prometheus would take that for a restart.
  #forget(worker: Worker): void {
    const index = this.#workers.indexOf(worker);
    if (index === -1) return;
    this.#workers.splice(index, 1);
    if (worker.report === null) return;
    const { counters } = worker.report;
    this.#exitedCounters =
      this.#exitedCounters === null ? counters : sumCounters(this.#exitedCounters, counters);
  }
}

const stopTimeoutMs = 10_000;

// The same program as this process, source or bundle. Settings come with the environment, a .env of this process's
// folder included: a worker that read it again would find the paths of key files that are replaced by their text.
const command = [process.execPath, ...process.execArgv, "--no-env-file", Bun.main, "worker"];

/**
 * `port` is where workers listen already; the first one finds it in the settings (null), and `onLaunch` is called with
 * what it has read.
 */
type WorkerOptions = { port: number | null; env: Environment; onLaunch: (launch: Launch) => void };

/** A worker as its supervisor sees it. */
export class WorkerProcess {
  readonly #child: Bun.Subprocess<"ignore", "inherit", "inherit">;
  readonly #listening = Promise.withResolvers<number | null>();
  readonly startedAt = performance.now();
  /** When a message of it came last, as `performance.now()` gives it. */
  lastMessageAt = this.startedAt;
  /** The last one; null before the first. */
  report: WorkerReport | null = null;
  #delayAtMessage = 0;

  /** Starts it. */
  constructor(log: Logger, { port, env, onLaunch }: WorkerOptions) {
    const { BUN_JSC_useJIT: _ofSupervisor, ...environment } = env;
    this.#child = Bun.spawn(port === null ? command : [...command, String(port)], {
      stdio: ["ignore", "inherit", "inherit"],
      env: { ...engineOptions(Bun.version).worker, ...environment },
      ipc: (message: WorkerMessage) => this.#onMessage(message, { log, onLaunch }),
    });
    void this.exited.then(() => this.#listening.resolve(null));
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** For how long since its last message it could have run and had no processor. */
  get starvedMs(): number {
    return Math.max(0, schedulingDelayMs(this.pid) - this.#delayAtMessage);
  }

  /** The port, once it listens there; null when it exited before. */
  get listening(): Promise<number | null> {
    return this.#listening.promise;
  }

  /** Its exit code, or the name of the signal that ended it. */
  get exited(): Promise<number | string> {
    return this.#child.exited.then((code) => this.#child.signalCode ?? code);
  }

  /** Lets it finish its open requests and exit; kills it when it does not in time. */
  async stop(signal: "SIGTERM" | typeof replacedSignal = "SIGTERM"): Promise<void> {
    this.#child.kill(signal);
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), stopTimeoutMs);
    await this.exited;
    clearTimeout(timer);
  }

  /** Lets it open the database anew. */
  reopen(): void {
    this.#child.send({ type: "reopen" } satisfies SupervisorMessage);
  }

  /** Ends it by force. A process that waits for a disk ends when the wait does. */
  kill(): void {
    this.#child.kill("SIGKILL");
  }

  #onMessage(
    message: WorkerMessage,
    { log, onLaunch }: { log: Logger } & Pick<WorkerOptions, "onLaunch">,
  ): void {
    this.lastMessageAt = performance.now();
    if (message.type !== "ready") this.#delayAtMessage = schedulingDelayMs(this.pid); // its first request comes now
    switch (message.type) {
      case "ready":
        if (message.launch !== null) onLaunch(message.launch);
        this.#listening.resolve(message.port);
        break;
      case "report":
        this.report = message.report;
        break;
      case "log": {
        const [level, event, text, facts] = message.line;
        log(level, event, text, { worker_pid: this.pid, ...facts });
        break;
      }
    }
  }
}

/**
 * For how many milliseconds of its life the main thread of a process was ready to run and had no processor, as Linux
 * counts it (second field of https://docs.kernel.org/scheduler/sched-stats.html#proc-pid-schedstat): when it gets one,
 * so that a wait that lasts is not in it yet. 0 where the system does not say it, and for a process that is gone.
 */
export function schedulingDelayMs(pid: number): number {
  try {
    const { readFileSync } = require("node:fs") as typeof import("node:fs"); // not before the first worker was started
    return Number(readFileSync(`/proc/${pid}/schedstat`, "latin1").split(" ")[1]) / 1e6 || 0;
  } catch {
    return 0; // another system than Linux, or a process that has ended, which its supervisor hears of elsewhere
  }
}

function countRequests({ requests }: CounterValues): number {
  return Object.values(requests).reduce((sum, count) => sum + count, 0);
}

const shortest = 100; // milliseconds
const longest = 3000; // so soon after its database is back, an origin without workers answers again

/** Milliseconds to wait before a worker is started again, after so many crashes without a quiet time between. */
function restartDelay(crashesInARow: number): number {
  return Math.min(longest, shortest * 2 ** Math.max(0, crashesInARow - 1));
}

const measuredWith = "1.4.5";

/**
 * What a worker and an inspector set in JavaScriptCore through their environment (api/README.md). Bun names these
 * options without a promise to keep them, and does not start with one that it does not know: any other release gets
 * none. What starts a supervisor sets BUN_JSC_useJIT to 0 for it, which saves 4 MB.
 */
export function engineOptions(bunVersion: string): Record<"worker" | "inspector", Record<string, string>> {
  if (bunVersion !== measuredWith) return { worker: {}, inspector: {} };
  return {
    worker: {
      // All of the heap is looked at as soon as a few MB outlived a collection of what is new. By itself the engine lets
      // garbage add up to 32 MB: 30 MB more in a flood. A request costs the same; while whole rankings are
      // built, others wait half a millisecond longer (p99).
      BUN_JSC_gcMaxHeapSize: "4000000", // bytes between two collections
      BUN_JSC_largeHeapSize: "2000000", // bytes that it grows to in any case: what a start needs, without a collection
      BUN_JSC_heapGrowthMaxIncrease: "0.6", // of what is alive; and the same for machines of less than 16 GB
      BUN_JSC_smallHeapGrowthFactor: "1.6",
      // With fewer than four processors, a worker stands still for four tenths of each period of a collection.
      BUN_JSC_concurrentGCPeriodMS: "0.5",
      // A second thread would get memory ready ahead: 1 ms of a start on one processor, and 0.9 MB.
      BUN_JSC_useWarmUpMarkedBlocks: "0",
      // What runs once is not compiled: a start takes 1 ms less, and has 0.5 MB less.
      BUN_JSC_thresholdForJITAfterWarmUp: "5000", // calls and turns of loops, weighed
      BUN_JSC_thresholdForJITSoon: "2000",
      // The optimising compiler takes a tenth off a request, and 3 MB: for what is called with each request only.
      BUN_JSC_thresholdForOptimizeAfterWarmUp: "100000",
      BUN_JSC_thresholdForOptimizeAfterLongWarmUp: "100000",
      BUN_JSC_thresholdForOptimizeSoon: "100000",
      BUN_JSC_useFTLJIT: "0", // a second one: 4 MB for nothing
    },
    inspector: { BUN_JSC_useJIT: "0" }, // what takes its time is SQLite; a worker would take an eighth more CPU
  };
}
