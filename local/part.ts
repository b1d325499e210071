import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { dirname } from "node:path";

const STOP_GRACE_MS = 10_000;

export type PartOptions = { cwd: string; env: Record<string, string>; logPath: string };

/** One long-running process of the local stack. What it prints goes to its log. */
export class Part {
  readonly #child: Bun.Subprocess;

  constructor(
    readonly name: string,
    command: string[],
    readonly options: PartOptions,
  ) {
    mkdirSync(dirname(options.logPath), { recursive: true });
    const log = openSync(options.logPath, "w");
    // A session of its own: Ctrl-C reaches only us, and we stop the parts in order.
    const { cwd, env } = options;
    this.#child = Bun.spawn(command, { cwd, env, detached: true, stdin: "ignore", stdout: log, stderr: log });
    closeSync(log);
  }

  /** Resolves when the process has ended, with a sentence that says how and the last it printed. */
  async died(): Promise<string> {
    await this.#child.exited;
    const how = this.#child.signalCode
      ? `was killed by ${this.#child.signalCode}`
      : `ended with exit code ${this.#child.exitCode}`;
    return `The ${this.name} ${how}.\n${this.#lastLines(5)}\nIts log: ${this.options.logPath}`;
  }

  /** SIGTERM, then SIGKILL for one that has not ended after the grace time. */
  async stop(): Promise<void> {
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), STOP_GRACE_MS);
    await this.#child.exited;
    clearTimeout(timer);
  }

  #lastLines(count: number): string {
    return readFileSync(this.options.logPath, "utf8").trimEnd().split("\n").slice(-count).join("\n");
  }
}
