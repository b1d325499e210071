import type { Logger } from "../logging/logger.ts";
import type { TaskGuard } from "../logging/task-guard.ts";
import type { WorkerStatistics } from "./admin.ts";
import type { DatabaseWatch } from "./database-watch.ts";
import type { WorkerEnvironment } from "./worker-environment.ts";
import type { WorkerPool } from "./worker-pool.ts";

type OversightParts = {
  pool: WorkerPool;
  watch: DatabaseWatch;
  guard: TaskGuard;
  environment: WorkerEnvironment;
};

/** What the supervisor does twice a second, and what the admin port says of it. */
export class Oversight implements WorkerStatistics {
  readonly #pool: WorkerPool;
  readonly #watch: DatabaseWatch;
  readonly #guard: TaskGuard;
  readonly #environment: WorkerEnvironment;
  readonly #log: Logger;
  #logged = "";

  constructor(parts: OversightParts, log: Logger) {
    this.#pool = parts.pool;
    this.#watch = parts.watch;
    this.#guard = parts.guard;
    this.#environment = parts.environment;
    this.#log = log;
  }

  get reports(): WorkerStatistics["reports"] {
    return this.#pool.reports;
  }

  get exitedCounters(): WorkerStatistics["exitedCounters"] {
    return this.#pool.exitedCounters;
  }

  get exits(): WorkerStatistics["exits"] {
    return this.#pool.exits;
  }

  get hasRejectedKeys(): boolean {
    return this.#environment.reason !== null;
  }

  /** Why the origin is degraded although no worker says so. */
  get reasons(): string[] {
    const now = performance.now();
    const failed = [this.#guard.reason, this.#environment.reason].filter((reason) => reason !== null);
    return [...failed, ...this.#pool.describe(now), ...this.#watch.describe(this.#pool.reports, now)];
  }

  /** Lets workers that do not follow the database open it anew. `now` is of `performance.now()`. */
  tick(now: number): void {
    if (this.#pool.isStopping) return;
    this.#watch.tick(now);
    this.#pool.reopen((report) => this.#watch.isBehind(report, now));
    this.#logChange(this.#watch.describe(this.#pool.reports, now));
  }

  #logChange(reasons: string[]): void {
    const text = reasons.join("; ");
    if (text === this.#logged) return;
    this.#logged = text;
    if (text === "")
      this.#log("info", "check_passed", "The database is whole, and its newest generation is served.");
    else
      this.#log("warning", "check_failed", "The database or what is served of it is not right.", { reasons });
  }
}
