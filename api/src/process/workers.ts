import { type CounterValues, sumCounters } from "../serving/counters.ts";
import type { SupervisorMessage, WorkerExits, WorkerReport } from "./messages.ts";

const suspectAfterMs = 2000; // without a report, which comes every second
const longestPauseMs = 2000; // of this process, after which it has to hear from the workers anew
const muchWork = 10_000; // requests to all workers
const restMs = 180_000;
const restingRequests = 180; // at most, in that time: probes, and an edge that nobody asks

type Slot = { report: WorkerReport; heardAt: number; isGone: boolean };

/**
 * What one worker knows of all workers of its origin: it hears their reports from the supervisor. Counters are those of
 * a slot: a worker goes on with what the ones before it had counted. Times are of `performance.now()`.
 */
export class Workers {
  readonly #own: { slot: number; pid: number };
  readonly #wanted: number;
  readonly #clock: () => number;
  readonly #slots = new Map<number, Slot>();
  #before: CounterValues | null = null;
  #exits: WorkerExits = { crashed: 0, hung: 0 };
  #listeningSince = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;
  readonly #told = Promise.withResolvers<void>();
  readonly #whole = Promise.withResolvers<void>();
  /** Since when the workers had hardly anything to answer, what they had answered by then, and when that was looked at. */
  #rest = { since: 0, answered: 0, lookedAt: Number.NEGATIVE_INFINITY };

  /** `own`: of the worker that this is in; `wanted`: of how many. */
  constructor(own: { slot: number; pid: number }, wanted: number, clock = () => performance.now()) {
    this.#own = own;
    this.#wanted = wanted;
    this.#clock = clock;
  }

  /** Takes what the supervisor says. */
  receive(message: Exclude<SupervisorMessage, { reopen: true }>): void {
    if ("exits" in message) {
      this.#exits = message.exits;
      this.#told.resolve();
    } else if ("gone" in message) {
      const slot = this.#slots.get(message.gone);
      if (slot !== undefined && slot.report.pid !== this.#own.pid) slot.isGone = true;
    } else {
      const { report } = message;
      if (report.slot === this.#own.slot) this.#before = report.counters;
      else this.#take(report);
    }
  }

  /** Takes this worker's own report, and gives it with what was counted before it in its slot. */
  complete(own: Omit<WorkerReport, "slot" | "pid" | "answered">): WorkerReport {
    const { counters } = own;
    const all = this.#before === null ? counters : sumCounters(this.#before, counters);
    const report = { ...own, ...this.#own, answered: countRequests(counters), counters: all };
    this.#take(report);
    return report;
  }

  /** Resolves when the supervisor has said what there was before this worker. */
  get told(): Promise<void> {
    return this.#told.promise;
  }

  /** Resolves when all that are wanted have reported. */
  get whole(): Promise<void> {
    return this.#whole.promise;
  }

  /** The newest report of every slot in which a worker runs. */
  get reports(): WorkerReport[] {
    return [...this.#slots.values()].filter(({ isGone }) => !isGone).map(({ report }) => report);
  }

  /** What the workers have counted that are away for the moment, null for none: counters only ever grow. */
  get goneCounters(): CounterValues | null {
    const gone = [...this.#slots.values()].filter(({ isGone }) => isGone);
    return gone.map(({ report }) => report.counters).reduce<CounterValues | null>(add, null);
  }

  get exits(): WorkerExits {
    return this.#exits;
  }

  /** Sentences about workers that hang or are missing. Call it twice a second. */
  describe(now: number): string[] {
    if (now - this.#lookedAt > longestPauseMs) this.#listeningSince = now;
    this.#lookedAt = now;
    const { reports } = this;
    const reasons = reports
      .filter(({ slot }) => this.#silence(slot, now) > suspectAfterMs)
      .map(({ pid }) => `Worker ${pid} does not report; it is replaced when that lasts`);
    if (reports.length < this.#wanted)
      reasons.push(`Only ${reports.length} of ${this.#wanted} workers are running; another one is started`);
    return reasons;
  }

  /**
   * Whether the workers rest after much work, and nobody is connected; new ones should take their place then. What the
   * engine has compiled by then, the pages of its program and the holes in its heap are 10 MB, which a process gives back
   * with its end and not before. Call it twice a second while all is well, and not while anything is degraded: old
   * workers may have in memory what new ones cannot read.
   */
  rest(now: number): boolean {
    const { since, answered: before, lookedAt } = this.#rest;
    const { reports } = this;
    const answered = reports.reduce((sum, report) => sum + report.answered, 0);
    const isNew = now - lookedAt > longestPauseMs || Math.abs(answered - before) > restingRequests;
    this.#rest = isNew ? { since: now, answered, lookedAt: now } : { ...this.#rest, lookedAt: now };
    if (isNew || now - since < restMs || answered < muchWork) return false;
    // A client that is connected could send a request when its connection is closed.
    if (!reports.every((report) => report.connections === 0 && report.degradedReason === null)) return false;
    this.#rest = { since: now, answered, lookedAt: now };
    return true;
  }

  #take(report: WorkerReport): void {
    this.#slots.set(report.slot, { report, heardAt: this.#clock(), isGone: false });
    if (this.reports.length >= this.#wanted) this.#whole.resolve();
  }

  // What this process did not hear while it was stopped itself does not count.
  #silence(slot: number, now: number): number {
    return now - Math.max(this.#slots.get(slot)?.heardAt ?? 0, this.#listeningSince);
  }
}

function add(sum: CounterValues | null, counters: CounterValues): CounterValues {
  return sum === null ? counters : sumCounters(sum, counters);
}

function countRequests({ requests }: CounterValues): number {
  return Object.values(requests).reduce((sum, count) => sum + count, 0);
}
