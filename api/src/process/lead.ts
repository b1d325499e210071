import { describeContent } from "../database/database-files.ts";
import type { Logger } from "../log.ts";
import type { Settings } from "../settings.ts";
import { adminRoutes } from "./admin.ts";
import { DatabaseWatch, startInspector } from "./database-watch.ts";
import { explainBindError, findFreePort } from "./free-port.ts";
import type { TaskGuard } from "./task-guard.ts";
import type { Workers } from "./workers.ts";

type LeadOptions = {
  settings: Pick<Settings, "databasePath" | "adminHost" | "adminPort">;
  /** Where the worker before this one in its slot listens for administration; 0: there was none. */
  adminPort: number;
  /** As text, for the inspector. */
  regions: string | undefined;
  /** Why keys of before are used, or null. */
  keysReason: string | null;
  workers: Workers;
  guard: TaskGuard;
  log: Logger;
  /** Lets a worker open the database anew. */
  reopen: (pid: number) => void;
  /** Null where nobody does. */
  replaceAll: (() => void) | null;
};

const watchIntervalMs = 500;

/** What the worker in slot 0 does for all of them: it answers the admin port, and compares what they serve with the database. */
export class Lead {
  readonly #options: LeadOptions;
  readonly #watch: DatabaseWatch;
  readonly #routes: ReturnType<typeof adminRoutes>;
  #admin: Bun.Server<undefined> | null = null;
  #logged = "";

  /**
   * Listens on the admin port. Where it is another worker's successor and cannot, it tries again, and that it cannot is in
   * its report: visitors come first. @throws Error of one sentence when the first one cannot
   */
  constructor(options: LeadOptions) {
    this.#options = options;
    const { settings, workers, regions, guard, keysReason } = options;
    const path = settings.databasePath;
    this.#watch = new DatabaseWatch({
      start: (onInspection) => startInspector({ path, regions }, onInspection),
      describeFiles: () => describeContent(path),
    });
    this.#routes = adminRoutes(() => ({
      reports: workers.reports,
      goneCounters: workers.goneCounters,
      exits: workers.exits,
      hasRejectedKeys: keysReason !== null,
      reasons: this.#findReasons(performance.now()),
    }));
    if (options.adminPort === 0)
      this.#listen(findFreePort(settings.adminHost, settings.adminPort, "ADMIN_PORT"));
    else this.#listenAgain();
    process.on("exit", () => this.#watch.restart()); // when the inspector hangs, it does not end by itself
    setInterval(
      () => guard.run("compare with the database", () => this.#look(performance.now())),
      watchIntervalMs,
    );
  }

  /** Null while it cannot listen there. */
  get adminUrl(): URL | null {
    return this.#admin?.url ?? null;
  }

  /** Leaves the admin port to another one. */
  async stop(): Promise<void> {
    await this.#admin?.stop();
  }

  #listenAgain(): void {
    const { guard, adminPort } = this.#options;
    guard.run("answer on the admin port", () => this.#listen(adminPort));
  }

  // For a moment, the worker before this one listens there, too.
  #listen(port: number): void {
    const { adminHost: hostname } = this.#options.settings;
    const serve = () =>
      Bun.serve({ hostname, port, development: false, reusePort: true, routes: this.#routes });
    this.#admin = explainBindError(hostname, port, serve, "ADMIN_PORT");
  }

  #look(now: number): void {
    const { workers, replaceAll, reopen, log } = this.#options;
    this.#watch.tick(now);
    if (this.#admin === null) this.#listenAgain();
    for (const report of workers.reports) if (this.#watch.isBehind(report, now)) reopen(report.pid);
    const reasons = this.#watch.describe(workers.reports, now);
    if (reasons.join("; ") !== this.#logged) logCheck(log, reasons);
    this.#logged = reasons.join("; ");
    if (replaceAll === null || this.#findReasons(now).length > 0 || !workers.rest(now)) return;
    log(
      "info",
      "workers_rested",
      "The workers rest after much work; new ones take their place, which gives memory back.",
    );
    replaceAll();
  }

  #findReasons(now: number): string[] {
    const { keysReason, workers } = this.#options;
    const own = keysReason === null ? [] : [keysReason];
    return [...own, ...workers.describe(now), ...this.#watch.describe(workers.reports, now)];
  }
}

function logCheck(log: Logger, reasons: string[]): void {
  if (reasons.length === 0)
    log("info", "check_passed", "The database is whole, and its newest generation is served.");
  else log("warning", "check_failed", "The database or what is served of it is not right.", { reasons });
}
