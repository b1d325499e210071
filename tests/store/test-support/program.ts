import { closeSync, openSync, readFileSync } from "node:fs";

/** `readyUrl` is what answers once the program is ready; without it, it is ready at once. */
export type ProgramSpec = {
  name: string;
  command: string[];
  env: Record<string, string>;
  cwd: string;
  logPath: string;
  readyUrl?: string;
};

const readyMs = 600_000; // only a fault takes so long, however busy the machine is
const programs = new Set<Program>();
process.once("exit", () => {
  for (const program of programs) program.killGroup();
});

/** A program that runs until it is killed, and may be started again. */
export class Program {
  readonly #spec: ProgramSpec;
  #child: Bun.Subprocess | undefined;
  /** How often it ended by itself, which it never should. */
  ended: string[] = [];
  #isKilled = false;

  constructor(spec: ProgramSpec) {
    this.#spec = spec;
    programs.add(this);
  }

  /** Starts it. @throws Error with the end of its log when it does not get ready */
  async start(): Promise<void> {
    const { command, env, cwd, logPath, readyUrl, name } = this.#spec;
    const log = openSync(logPath, "a");
    this.#isKilled = false;
    const child = Bun.spawn(command, { env, cwd, detached: true, stdin: "ignore", stdout: log, stderr: log });
    closeSync(log);
    this.#child = child;
    void child.exited.then((code) => {
      if (!this.#isKilled && this.#child === child) this.ended.push(`${name} ended with exit code ${code}`);
    });
    const deadline = Date.now() + readyMs;
    while (readyUrl !== undefined && !this.#isKilled && !(await answers(readyUrl))) {
      if (Date.now() > deadline || this.ended.length > 0) {
        await this.kill();
        throw new Error(`${name} is not ready: ${this.log()}`);
      }
      await Bun.sleep(30);
    }
  }

  /** Of the process itself; 0 before it was started. */
  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** SIGKILL for it and all that it has started. */
  async kill(): Promise<void> {
    this.killGroup();
    await this.#child?.exited;
  }

  /** The same at the end, when nothing can be waited for. */
  killGroup(): void {
    this.#isKilled = true;
    try {
      if (this.#child !== undefined) process.kill(-this.#child.pid, "SIGKILL");
    } catch {
      // it has ended
    }
  }

  /** The end of what it wrote. */
  log(): string {
    return readFileSync(this.#spec.logPath, "utf8").slice(-2000);
  }
}

function answers(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(10_000) }).then(
    ({ status }) => status < 500,
    () => false,
  );
}
