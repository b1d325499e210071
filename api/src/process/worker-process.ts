import type { Environment } from "../key-files.ts";
import type { Logger } from "../logging/logger.ts";
import { engineOptions } from "./engine-options.ts";
import type { SupervisorMessage, WorkerMessage, WorkerReport } from "./messages.ts";
import { runDelayMs } from "./run-delay.ts";

const stopTimeoutMs = 10_000;

// The same program as this process, source or bundle. Settings come with the environment, a .env of this process's
// folder included: a worker that read it again would find the paths of key files that are replaced by their text.
const command = [process.execPath, ...process.execArgv, "--no-env-file", Bun.main, "worker"];

/** `port` is where workers listen already; the first one finds it in the settings (null). */
type WorkerOptions = { port: number | null; env: Environment };

/** A worker as its supervisor sees it. */
export class WorkerProcess {
  readonly #child: Bun.Subprocess<"ignore", "inherit", "inherit">;
  readonly #listening = Promise.withResolvers<number | null>();
  readonly startedAt = performance.now();
  /** When a message of it came last, as `performance.now()` gives it. */
  lastMessageAt = this.startedAt;
  /** The last one; null before the first. */
  report: WorkerReport | null = null;
  #runDelayAtMessage = 0;

  /** Starts it. */
  constructor(log: Logger, { port, env }: WorkerOptions) {
    this.#child = Bun.spawn(port === null ? command : [...command, String(port)], {
      stdio: ["ignore", "inherit", "inherit"],
      env: { ...engineOptions(Bun.version), ...env },
      ipc: (message: WorkerMessage) => this.#onMessage(message, log),
    });
    void this.exited.then(() => this.#listening.resolve(null));
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** For how long since its last message it could have run and had no processor. */
  get starvedMs(): number {
    return Math.max(0, runDelayMs(this.pid) - this.#runDelayAtMessage);
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
  async stop(): Promise<void> {
    this.#child.kill("SIGTERM");
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

  #onMessage(message: WorkerMessage, log: Logger): void {
    this.lastMessageAt = performance.now();
    this.#runDelayAtMessage = runDelayMs(this.pid);
    switch (message.type) {
      case "ready":
        this.#listening.resolve(message.port);
        break;
      case "report":
        this.report = message.report;
        break;
      case "log":
        log(message.level, message.event, message.message, { worker_pid: this.pid, ...message.facts });
        break;
    }
  }
}
