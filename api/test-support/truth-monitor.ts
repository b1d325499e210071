import { readdirSync, readFileSync } from "node:fs";
import type { OriginProcess } from "./origin-process.ts";

const truthMs = 5000;
const recoveryMs = 240_000; // from anything that was done, while other programs take the processor
const pauseMs = 50;

/** What is true, and whether that is said. */
type Look = { isTrue: boolean; newest: number | null; isRunning: boolean; said: object };

/** Of a process, in milliseconds: on a processor, and in a queue for one. */
type Times = { ran: number; waited: number };

type Wrong = { truth: string; since: number; times: Map<number, Times> };

type Options = { workers: number; findNewest: () => number | null };

/**
 * Compares what /readyz says with what is true: with the file, as a process that has nothing else open reads it, and with
 * the processes that run. It may be wrong for five seconds, for the time that the origin's processes and this one were
 * ready to run and had no processor, and for what a new process computes to start: each step from a fault to the answer is
 * done by one of them.
 */
export class TruthMonitor {
  readonly #origin: OriginProcess;
  readonly #options: Options;

  constructor(origin: OriginProcess, options: Options) {
    this.#origin = origin;
    this.#options = options;
  }

  /** Resolves when what is said is true. @throws Error when it is not in time */
  async expectTruth(): Promise<void> {
    await this.#follow(({ isTrue }) => isTrue);
  }

  /** Resolves when all is well and said to be. @throws Error when something else is said than is true, or after four minutes */
  async expectReady(): Promise<void> {
    await this.#follow(({ isTrue, newest, isRunning }) => isTrue && newest !== null && isRunning);
  }

  async #follow(isEnough: (look: Look) => boolean): Promise<void> {
    const startedAt = performance.now();
    let wrong: Wrong | null = null;
    for (;;) {
      const at = performance.now();
      const look = await this.#look();
      if (isEnough(look)) return;
      wrong = this.#judge(look, wrong, at);
      if (performance.now() - startedAt > recoveryMs)
        throw new Error(`not ready after ${recoveryMs} ms: ${JSON.stringify(look)}`);
      await Bun.sleep(pauseMs);
    }
  }

  // What changes meanwhile may be said anew as late.
  #judge(look: Look, last: Wrong | null, at: number): Wrong | null {
    if (look.isTrue) return null;
    const truth = `${look.newest} ${look.isRunning}`;
    if (last?.truth !== truth) return { truth, since: at, times: this.#times() };
    const wrongMs = performance.now() - last.since;
    if (wrongMs > truthMs + this.#spentSince(last.times))
      throw new Error(`wrong for ${Math.round(wrongMs)} ms: ${JSON.stringify(look)}`);
    return last;
  }

  async #look(): Promise<Look> {
    const said = await this.#origin.readiness();
    const newest = this.#options.findNewest();
    const isRunning = this.#isRunning();
    const isTrue =
      newest !== null && isRunning
        ? said.status === "ok" && said.generation === newest
        : said.status !== "ok";
    return { isTrue, newest, isRunning, said };
  }

  // A process that was stopped by a signal has the state T.
  #isRunning(): boolean {
    const workers = this.#origin.workerPids();
    const inspectors = this.#origin.inspectorPids();
    const isStopped = (pid: number) => / \(.*\) [TZX] /.test(read(`/proc/${pid}/stat`));
    if (workers.length !== this.#options.workers || inspectors.length !== 1) return false;
    return ![...workers, ...inspectors].some(isStopped);
  }

  #times(): Map<number, Times> {
    const { pid } = this.#origin;
    const pids = [process.pid, pid, ...this.#origin.workerPids(), ...this.#origin.inspectorPids()];
    return new Map(pids.map((one) => [one, timesOf(one)]));
  }

  // A process that was started since needs the processor to start.
  #spentSince(before: Map<number, Times>): number {
    let sum = 0;
    for (const [pid, { ran, waited }] of this.#times()) {
      const known = before.get(pid);
      sum += known === undefined ? ran + waited : Math.max(0, waited - known.waited); // a thread may have ended
    }
    return sum;
  }
}

// The first two numbers of each thread's schedstat (Linux, sched-stats.rst): the threads of a start wait for each other.
function timesOf(pid: number): Times {
  const times = { ran: 0, waited: 0 };
  for (const thread of list(`/proc/${pid}/task`)) {
    const [ran = "0", waited = "0"] = read(`/proc/${pid}/task/${thread}/schedstat`).split(" ");
    times.ran += Number(ran) / 1e6;
    times.waited += Number(waited) / 1e6;
  }
  return times;
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // the process has ended
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // the process has ended
  }
}
