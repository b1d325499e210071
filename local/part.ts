import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { dirname } from "node:path";

const START_DEADLINE_MS = 30_000;
const STOP_GRACE_MS = 10_000;

/** What is run, and where it answers once it is ready. */
export type PartPlan = {
  name: string;
  command: string[];
  env: Record<string, string>;
  logPath: string;
  readyUrl: string;
};

/** One long-running process of the local stack. What it prints goes to its log. */
export class Part {
  readonly #child: Bun.Subprocess;

  constructor(readonly plan: PartPlan) {
    mkdirSync(dirname(plan.logPath), { recursive: true });
    const log = openSync(plan.logPath, "w");
    // A session of its own: Ctrl-C reaches only us, and we stop the parts in order.
    const options = { env: plan.env, detached: true, stdin: "ignore", stdout: log, stderr: log } as const;
    this.#child = Bun.spawn(plan.command, options);
    closeSync(log);
  }

  /** Resolves with whether it answered before the deadline, and before the signal aborted. */
  async ready(stopped: AbortSignal): Promise<boolean> {
    const deadline = Date.now() + START_DEADLINE_MS;
    while (Date.now() < deadline && !stopped.aborted) {
      if (await answers(this.plan.readyUrl)) return true;
      await Bun.sleep(20);
    }
    return false;
  }

  /** Resolves when the process has ended, with a sentence that says how and the last it printed. */
  async died(): Promise<string> {
    await this.#child.exited;
    const how = this.#child.signalCode
      ? `was killed by ${this.#child.signalCode}`
      : `ended with exit code ${this.#child.exitCode}`;
    return `The ${this.plan.name} ${how}.\n${this.#lastLines(5)}\nIts log: ${this.plan.logPath}`;
  }

  /** SIGTERM; then SIGKILL, for it and all it started, when it has not ended after the grace time. */
  async stop(): Promise<void> {
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => process.kill(-this.#child.pid, "SIGKILL"), STOP_GRACE_MS);
    await this.#child.exited;
    clearTimeout(timer);
  }

  #lastLines(count: number): string {
    return readFileSync(this.plan.logPath, "utf8").trimEnd().split("\n").slice(-count).join("\n");
  }
}

function answers(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(1_000) }).then(
    () => true,
    () => false, // not listening yet
  );
}
