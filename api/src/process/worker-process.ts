import { engineOptions } from "./engine-options.ts";
import type { Logger } from "./log.ts";
import type { Report, WorkerMessage } from "./messages.ts";

const killAfter = 10_000; // milliseconds that a worker may take to leave

// The same program as this process, source or bundle. Settings come with the environment.
const command = [process.execPath, ...process.execArgv, Bun.main, "worker"];

/** A worker as its supervisor sees it. */
export class WorkerProcess {
  readonly #child: Bun.Subprocess<"ignore", "inherit", "inherit">;
  readonly #listening = Promise.withResolvers<number | null>();
  readonly startedAt = performance.now();
  report: Report | null = null;

  /** Starts it. `port` is where workers listen already; the first one finds it in the settings. */
  constructor(log: Logger, port: number | null) {
    this.#child = Bun.spawn(port === null ? command : [...command, String(port)], {
      stdio: ["ignore", "inherit", "inherit"],
      env: { ...engineOptions(Bun.version), ...process.env },
      ipc: (message: WorkerMessage) => this.#hear(message, log),
    });
    void this.exited.then(() => this.#listening.resolve(null));
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** The port, once it listens there; null when it ended before. */
  get listening(): Promise<number | null> {
    return this.#listening.promise;
  }

  /** How it ended: an exit code, or the name of the signal. */
  get exited(): Promise<number | string> {
    return this.#child.exited.then((code) => this.#child.signalCode ?? code);
  }

  /** Asks it to finish its open requests and leave; ends it when it does not. */
  async leave(): Promise<void> {
    this.#child.kill("SIGTERM");
    const deadline = setTimeout(() => this.#child.kill("SIGKILL"), killAfter);
    await this.exited;
    clearTimeout(deadline);
  }

  #hear(message: WorkerMessage, log: Logger): void {
    switch (message.type) {
      case "ready":
        this.#listening.resolve(message.port);
        break;
      case "report":
        this.report = message.report;
        break;
      case "log":
        log(message.level, message.event, { worker: this.pid, ...message.fields });
        break;
    }
  }
}
