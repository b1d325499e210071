import { readFileSync } from "node:fs";
import { join } from "node:path";
import { testEnvironment } from "./test-origin.ts";
import { until } from "./until.ts";

type Line = { event: string; level: string; message: string; time: string } & Record<string, unknown>;

/** The real program with its supervisor and workers, on free ports of the loopback. */
export class OriginProcess {
  readonly lines: Line[] = [];
  stderr = "";
  url = "";
  admin = "";
  readonly #child: Bun.Subprocess<"ignore", "pipe", "pipe">;
  readonly #listening = Promise.withResolvers<void>();

  private constructor(databasePath: string, env: Record<string, string | undefined>) {
    // Without the keys of the developer who runs the tests.
    this.#child = Bun.spawn([process.execPath, "--no-env-file", join(import.meta.dir, "../src/main.ts")], {
      env: {
        PATH: process.env.PATH ?? "",
        ...testEnvironment,
        DB_PATH: databasePath,
        PORT: "0",
        ADMIN_PORT: "0",
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    void this.#readLines();
    void this.#child.stderr.text().then((text) => {
      this.stderr = text;
    });
  }

  /** Starts it and waits until it listens. @throws Error with its output when it does not */
  static async start(
    databasePath: string,
    env: Record<string, string | undefined> = {},
  ): Promise<OriginProcess> {
    const origin = OriginProcess.launch(databasePath, env);
    await origin.listening();
    return origin;
  }

  /** Starts it. */
  static launch(databasePath: string, env: Record<string, string | undefined> = {}): OriginProcess {
    return new OriginProcess(databasePath, env);
  }

  /** Waits until it listens. @throws Error with its output when it does not */
  async listening(): Promise<void> {
    await Promise.race([this.#listening.promise, this.ended]);
    if (this.url !== "") return;
    await until(() => this.stderr !== "");
    throw new Error(`The origin did not start: ${this.stderr}`);
  }

  /** Starts what is expected to exit at once: its exit code and what it wrote on standard error. */
  static async refuse(databasePath: string, env: Record<string, string | undefined> = {}) {
    const origin = new OriginProcess(databasePath, env);
    const code = await origin.ended;
    await until(() => origin.stderr !== "");
    return { code, stderr: origin.stderr };
  }

  get pid(): number {
    return this.#child.pid;
  }

  get ended(): Promise<number> {
    return this.#child.exited;
  }

  /** Everything it has written so far. */
  get output(): string {
    return this.lines.map((line) => JSON.stringify(line)).join("\n") + this.stderr;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Ends it by force, and waits until none of its processes writes any more; for the end of a test. */
  async remove(): Promise<void> {
    const children = [...this.workerPids(), ...this.inspectorPids()];
    this.#child.kill("SIGKILL"); // first, or it would start others
    for (const pid of children) killIfThere(pid);
    await this.ended;
    await until(() => !children.some(isRunning));
  }

  workerPids(): number[] {
    return this.#childPids("worker");
  }

  inspectorPids(): number[] {
    return this.#childPids("inspector");
  }

  // A child has no role before it runs our program.
  #childPids(role: string): number[] {
    const children = readIfThere(`/proc/${this.pid}/task/${this.pid}/children`);
    const pids = [...children.matchAll(/[0-9]+/g)].map(Number);
    return pids.filter((pid) => readIfThere(`/proc/${pid}/cmdline`).split("\0").includes(role));
  }

  async readiness(): Promise<{ status: string; reasons: string[]; generation: number | null }> {
    return (await fetch(`${this.admin}readyz`)).json() as never;
  }

  async #readLines(): Promise<void> {
    let rest = "";
    for await (const chunk of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
      const parts = (rest + chunk).split("\n");
      rest = parts.pop() ?? "";
      for (const part of parts) this.#take(JSON.parse(part));
    }
  }

  #take(line: Line): void {
    this.lines.push(line);
    if (line.event !== "listening") return;
    this.url = String(line.url);
    this.admin = String(line.admin_url);
    this.#listening.resolve();
  }
}

// Without its supervisor, a worker ends by itself.
function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it has ended
  }
}

// Of what has ended there is nothing, or a state (proc(5)): Z until somebody asks for its exit code, then X.
function isRunning(pid: number): boolean {
  return / \(.*\) [^ZX] /.test(readIfThere(`/proc/${pid}/stat`));
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // the process has ended
  }
}
