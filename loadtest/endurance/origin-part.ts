import type { Random } from "@trendvault/contract/test-support/random";
import { OriginProcess } from "../../api/test-support/origin-process.ts";
import { until } from "../../api/test-support/until.ts";

const workers = 2;

/** The real origin, on ports that stay its own, which can be killed and come back as systemd would start it. */
export class OriginPart {
  readonly #databasePath: string;
  readonly #env: Record<string, string>;
  #process: OriginProcess;

  private constructor(process: OriginProcess, databasePath: string, env: Record<string, string>) {
    this.#process = process;
    this.#databasePath = databasePath;
    this.#env = env;
  }

  /** `ports` are the public one and that of readiness. */
  static async start(
    databasePath: string,
    { env, ports: [port, adminPort] }: { env: Record<string, string>; ports: [number, number] },
  ): Promise<OriginPart> {
    const settings = { ...env, PORT: String(port), ADMIN_PORT: String(adminPort), WORKERS: String(workers) };
    return new OriginPart(await OriginProcess.start(databasePath, settings), databasePath, settings);
  }

  /** Without a slash at its end. */
  get url(): string {
    return this.#process.url.replace(/\/$/, "");
  }

  get pids(): number[] {
    return [this.#process.pid, ...this.#process.workerPids(), ...this.#process.inspectorPids()];
  }

  /** Unix seconds, by its own clock. */
  async readClock(): Promise<number> {
    const { headers } = await fetch(`${this.url}/healthz`);
    return Date.parse(headers.get("date") ?? "") / 1000;
  }

  /** Why it is not well, or null when all of its processes run and it serves a generation. */
  async ailment(generation: number): Promise<string | null> {
    if (this.#process.workerPids().length !== workers) return "a worker is missing";
    const said = await this.#process.readiness().catch(() => null);
    if (said === null) return "it does not answer";
    if (said.status !== "ok") return said.reasons.join("; ");
    return said.generation === generation ? null : `it serves ${said.generation}, and not ${generation}`;
  }

  /** Resolves when every worker is another one. */
  async hangUp(): Promise<void> {
    const before = this.#process.workerPids();
    this.#process.kill("SIGHUP");
    await until(() => !this.#process.workerPids().some((pid) => before.includes(pid)));
  }

  killWorker(random: Random): Promise<void> {
    return this.#kill([random.pick(this.#process.workerPids())]);
  }

  killWorkers(): Promise<void> {
    return this.#kill(this.#process.workerPids());
  }

  killInspector(): Promise<void> {
    return this.#kill(this.#process.inspectorPids());
  }

  /** Resolves when they have ended: until then nobody misses them, and all looks well. */
  async #kill(pids: readonly number[]): Promise<void> {
    pids.forEach(kill);
    const running = () => [...this.#process.workerPids(), ...this.#process.inspectorPids()];
    await until(() => !running().some((pid) => pids.includes(pid)));
  }

  /** Ends all of its processes at once, and starts it again. */
  async killAndStart(): Promise<void> {
    await this.#process.remove();
    this.#process = await OriginProcess.start(this.#databasePath, this.#env);
  }

  async stop(): Promise<void> {
    await this.#process.remove();
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it has ended
  }
}
