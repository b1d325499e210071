import type { Logger } from "./log.ts";
import type { Report, SupervisorMessage, WorkerMessage } from "./messages.ts";

const killAfter = 10_000; // milliseconds that a worker may take to leave

// The same program as this process, source or bundle. Settings come with the environment.
const command = [process.execPath, ...process.execArgv, Bun.main, "worker"];

/** A worker as its supervisor sees it. */
export class WorkerProcess {
  readonly #child: Bun.Subprocess<"ignore", "inherit", "inherit">;
  readonly #ready = Promise.withResolvers<boolean>();
  readonly startedAt = performance.now();
  report: Report | null = null;

  /** Starts it. It listens when it is told the port. */
  constructor(log: Logger) {
    this.#child = Bun.spawn(command, {
      stdio: ["ignore", "inherit", "inherit"],
      ipc: (message: WorkerMessage) => this.#hear(message, log),
    });
    void this.exited.then(() => this.#ready.resolve(false));
  }

  get pid(): number {
    return this.#child.pid;
  }

  listen(port: number): void {
    const message: SupervisorMessage = { type: "listen", port };
    if (!this.#child.killed) this.#child.send(message);
  }

  /** Whether it listens; false when it ended before. */
  get ready(): Promise<boolean> {
    return this.#ready.promise;
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

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  #hear(message: WorkerMessage, log: Logger): void {
    switch (message.type) {
      case "ready":
        this.#ready.resolve(true);
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
