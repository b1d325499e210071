import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { dirname } from "node:path";

const START_TIMEOUT_MS = 300_000; // a busy machine takes minutes where a quiet one takes seconds
const PROGRESS_INTERVAL_MS = 10_000;
const STOP_TIMEOUT_MS = 10_000;

/** What is run, and where it answers once it is ready. */
export type ServiceSpec = {
  name: string;
  command: string[];
  env: Record<string, string>;
  logPath: string;
  readyUrl: string;
};

type Waiting = { signal: AbortSignal; timeoutMs?: number; progressIntervalMs?: number };

/** One long-running process of the local stack. What it prints goes to its log. */
export class Service {
  readonly #child: Bun.Subprocess;

  constructor(readonly spec: ServiceSpec) {
    mkdirSync(dirname(spec.logPath), { recursive: true });
    const log = openSync(spec.logPath, "w");
    // A session of its own: Ctrl-C reaches only us, and we stop the services in order.
    const options = { env: spec.env, detached: true, stdin: "ignore", stdout: log, stderr: log } as const;
    this.#child = Bun.spawn(spec.command, options);
    closeSync(log);
  }

  /**
   * Resolves with true once it answers, and with false when the signal aborts or the timeout (default 5 minutes) has
   * passed. Prints every 10 seconds that it still waits.
   */
  async ready({
    signal,
    timeoutMs = START_TIMEOUT_MS,
    progressIntervalMs = PROGRESS_INTERVAL_MS,
  }: Waiting): Promise<boolean> {
    const started = performance.now();
    let printed = 0;
    for (let waited = 0; waited < timeoutMs && !signal.aborted; waited = performance.now() - started) {
      if (await answers(this.spec.readyUrl)) return true;
      if (waited - printed >= progressIntervalMs) {
        console.log(
          `Waiting for the ${this.spec.name} (${(waited / 1000).toFixed()} s); its log: ${this.spec.logPath}`,
        );
        printed = waited;
      }
      await Bun.sleep(20);
    }
    return false;
  }

  /** Resolves when the process has ended, with a sentence that says how, and the last lines of its log. */
  async exited(): Promise<string> {
    await this.#child.exited;
    const how = this.#child.signalCode
      ? `was killed by ${this.#child.signalCode}`
      : `ended with exit code ${this.#child.exitCode}`;
    return `The ${this.spec.name} ${how}.\n${this.#lastLines(5)}\nIts log: ${this.spec.logPath}`;
  }

  /** SIGTERM; then SIGKILL, for it and all it started, when it has not ended after 10 seconds. */
  async stop(): Promise<void> {
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => process.kill(-this.#child.pid, "SIGKILL"), STOP_TIMEOUT_MS);
    await this.#child.exited;
    clearTimeout(timer);
  }

  #lastLines(count: number): string {
    return readFileSync(this.spec.logPath, "utf8").trimEnd().split("\n").slice(-count).join("\n");
  }
}

function answers(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(1_000) }).then(
    () => true,
    () => false, // not listening yet
  );
}
