import type { ChildProcess } from "node:child_process";
import { createHmac } from "node:crypto";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { edgeKeys, signingKey, tokenSigningKey } from "./keys.ts";
import { exitOf, freePort, isRunning, killLaunched, launch, readIfThere, root, until } from "./machine.ts";

/** The origin from its sources, with its supervisor. */
export const originCommand: readonly string[] = [
  join(root, ".tools/bin/supervisor"),
  "bun",
  "--no-env-file",
  join(root, "api/src/main.ts"),
];

type Line = { event: string; level: string; message: string; time: string } & Record<string, unknown>;

/** Variables that an origin needs. The keys are for tests and worth nothing. */
export const testEnvironment = {
  TOKEN_SIGNING_KEYS: keyOf((index) => 99 - index),
  SIGNING_KEYS: keyOf((index) => index),
};

function keyOf(byte: (index: number) => number): string {
  return Buffer.from(Array.from({ length: 32 }, (_, index) => byte(index))).toString("base64url");
}

/**
 * The real program with its supervisor and workers, on ports of the loopback. That of the workers stays its own: while the
 * only worker is away, nothing holds it, and what the system gives to whoever asks for any port may be the same.
 */
export class OriginProcess {
  readonly lines: Line[] = [];
  stderr = "";
  url = "";
  admin = "";
  readonly #child: ChildProcess;
  readonly ended: Promise<number>;
  readonly #listening = Promise.withResolvers<void>();

  private constructor(databasePath: string, env: Record<string, string | undefined>, port: number) {
    // Without the keys of the developer who runs the tests.
    this.#child = launch([...originCommand], {
      env: {
        PATH: process.env.PATH ?? "",
        ...testEnvironment,
        DB_PATH: databasePath,
        PORT: String(port),
        ADMIN_PORT: "0",
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.ended = exitOf(this.#child);
    const { stdout, stderr } = this.#child;
    if (stdout === null || stderr === null) throw new Error("The origin has no output");
    createInterface(stdout).on("line", (line) => this.#take(JSON.parse(line)));
    void text(stderr).then((said) => {
      this.stderr = said;
    });
  }

  /** Starts it and waits until it listens. @throws Error with its output when it does not */
  static async start(
    databasePath: string,
    env: Record<string, string | undefined> = {},
  ): Promise<OriginProcess> {
    const origin = await OriginProcess.launch(databasePath, env);
    await origin.listening();
    return origin;
  }

  /** Starts it. */
  static async launch(
    databasePath: string,
    env: Record<string, string | undefined> = {},
  ): Promise<OriginProcess> {
    return new OriginProcess(databasePath, env, await freePort());
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
    const origin = await OriginProcess.launch(databasePath, env);
    const code = await origin.ended;
    await until(() => origin.stderr !== "");
    return { code, stderr: origin.stderr };
  }

  get pid(): number {
    return this.#child.pid ?? 0;
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
    await killLaunched(this.#child);
    await until(() => !children.some(isRunning));
  }

  workerPids(): number[] {
    return childPids(this.pid, "worker");
  }

  inspectorPids(): number[] {
    return this.workerPids().flatMap((pid) => childPids(pid, "inspector"));
  }

  /** What /readyz says; "unreachable" while the worker that answers there is away. */
  async readiness(): Promise<{ status: string; reasons: string[]; generation: number | null }> {
    const away = { status: "unreachable", reasons: [], generation: null };
    return fetch(`${this.admin}readyz`).then(
      (answer) => answer.json() as never,
      () => away,
    );
  }

  #take(line: Line): void {
    this.lines.push(line);
    if (line.event !== "listening") return;
    this.url = String(line.url);
    this.admin = String(line.admin_url);
    this.#listening.resolve();
  }
}

/** The children of a process in one role. A child has none before it runs our program. */
export function childPids(pid: number, role: string): number[] {
  const children = readIfThere(`/proc/${pid}/task/${pid}/children`);
  const pids = [...children.matchAll(/[0-9]+/g)].map(Number);
  return pids.filter((child) => readIfThere(`/proc/${child}/cmdline`).split("\0").includes(role));
}

/** The origin of an edge, on a port that stays its own, so that it can be killed and come back. */
export class EdgeOrigin {
  readonly url: string;
  readonly #start: () => Promise<OriginProcess>;
  #process: OriginProcess | undefined;

  private constructor(url: string, start: () => Promise<OriginProcess>) {
    this.url = url;
    this.#start = start;
  }

  /** `settings` are further ones of its environment. */
  static async start(databasePath: string, settings: Record<string, string> = {}): Promise<EdgeOrigin> {
    const PORT = String(await freePort());
    const keys = { TOKEN_SIGNING_KEYS: tokenSigningKey, SIGNING_KEYS: signingKey, EDGE_KEYS: edgeKeys };
    const env = { ...settings, ...keys, PORT };
    const origin = new EdgeOrigin(`http://127.0.0.1:${PORT}`, () => OriginProcess.start(databasePath, env));
    await origin.start();
    return origin;
  }

  async start(): Promise<void> {
    this.#process = await this.#start();
  }

  /** Sends a request to the origin itself, signed as the edge signs. */
  fetch(target: string, method = "GET"): Promise<Response> {
    const [kid = "", key = ""] = edgeKeys.split(":");
    const minute = Math.floor(Date.now() / 60_000);
    const payload = ["trendvault-edge", "v2", kid, minute].join("\n");
    const mac = createHmac("sha256", Buffer.from(key, "base64url")).update(payload).digest("base64url");
    const headers = { "x-edge-signature": `v2.${kid}.${minute}.${mac}` };
    return fetch(`${this.url}${target}`, { method, headers });
  }

  /** Ends the origin and its workers at once. */
  async kill(): Promise<void> {
    await this.#process?.remove();
  }
}
