import { Database } from "bun:sqlite";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { freePort, newFolder } from "@trendvault/kit/machine";
import { parseOptions } from "../options.ts";
import { edgeService, originService } from "../services.ts";
import { loadOrCreateKeys } from "../settings.ts";

const root = resolve(import.meta.dir, "../../..");
const writer = join(root, "writer/bin/writer");

/** Impressions and clicks by `region video`. */
export type Counts = Map<string, { impressions: number; clicks: number }>;

/** Origin, edge and writer as bin/up runs them, each of which may be killed, over a database in a folder of its own. */
export class LoopParts {
  readonly edgeUrl: string;
  readonly #folder: string;
  readonly #database: string;
  readonly #env: Record<string, string>;
  readonly #commands: Record<
    "origin" | "edge",
    { command: string[]; env: Record<string, string>; url: string }
  >;
  readonly #running = new Map<string, Bun.Subprocess>();

  private constructor(ports: { origin: number; admin: number; edge: number }) {
    this.#folder = newFolder("loop");
    this.#database = join(this.#folder, "data/trendvault.db");
    this.edgeUrl = `http://127.0.0.1:${ports.edge}`;
    const envFile = join(this.#folder, ".env");
    const args = ["--port", String(ports.origin), "--admin-port", String(ports.admin)];
    args.push("--db", this.#database, "--edge-port", String(ports.edge), "--env-file", envFile);
    const options = parseOptions(args, { cwd: this.#folder, root });
    const { PATH = "", HOME = "" } = process.env;
    const { settings } = loadOrCreateKeys(envFile);
    this.#env = { PATH, HOME, ...settings, DB_PATH: this.#database, SOURCES: `edge:${this.edgeUrl}` };
    const context = { root, env: this.#env };
    const [origin, edge] = [originService(options, context), edgeService(options, context)];
    this.#commands = {
      origin: { ...origin, url: origin.readyUrl },
      edge: { ...edge, url: edge.readyUrl },
    };
  }

  /** `lines` are what the writer ingests first. */
  static async start(lines: readonly object[]): Promise<LoopParts> {
    const parts = new LoopParts({
      origin: await freePort(),
      admin: await freePort(),
      edge: await freePort(),
    });
    const source = join(parts.#folder, "videos.ndjson");
    mkdirSync(join(parts.#folder, "data"));
    writeFileSync(source, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    for (const command of [["migrate"], ["ingest", source], ["rank"]]) {
      if ((await parts.runWriter(command)) !== 0) throw new Error(`writer ${command.join(" ")} failed`);
    }
    await parts.run("origin");
    await parts.run("edge");
    return parts;
  }

  /** Starts a part, and waits until it answers. */
  async run(name: "origin" | "edge"): Promise<void> {
    const { command, env, url } = this.#commands[name];
    const log = Bun.file(join(this.#folder, `${name}.log`));
    this.#running.set(
      name,
      Bun.spawn(command, { env, detached: true, stdout: log, stderr: log, stdin: "ignore" }),
    );
    while (
      !(await fetch(url).then(
        () => true,
        () => false,
      ))
    )
      await Bun.sleep(50);
  }

  /** SIGKILL for a part and all that it has started. */
  async kill(name: "origin" | "edge"): Promise<void> {
    const child = this.#running.get(name);
    if (child === undefined) return;
    this.#running.delete(name);
    process.kill(-child.pid, "SIGKILL");
    await child.exited;
  }

  /** Resolves with the exit code. After `killedAfterMs` it is killed. */
  async runWriter(command: readonly string[], killedAfterMs = Number.POSITIVE_INFINITY): Promise<number> {
    const child = Bun.spawn([writer, ...command], {
      env: this.#env,
      detached: true,
      stdin: "ignore",
      stdout: "ignore",
      stderr: Bun.file(join(this.#folder, "writer.log")),
    });
    const timer = Number.isFinite(killedAfterMs)
      ? setTimeout(() => process.kill(-child.pid, "SIGKILL"), killedAfterMs)
      : undefined;
    const exitCode = await child.exited;
    clearTimeout(timer);
    return exitCode;
  }

  /** What the writer has stored of what visitors did. */
  storedCounts(): Counts {
    const rows = this.query<{ region: string; video_id: string; impressions: number; clicks: number }>(
      "SELECT region, video_id, impressions, clicks FROM pulled_videos",
    );
    return new Map(
      rows.map(({ region, video_id, impressions, clicks }) => [
        `${region} ${video_id}`,
        { impressions, clicks },
      ]),
    );
  }

  query<Row>(sql: string): Row[] {
    const database = new Database(this.#database, { readonly: true });
    try {
      return database.query<Row, []>(sql).all();
    } finally {
      database.close();
    }
  }

  async stop(): Promise<void> {
    await this.kill("edge");
    await this.kill("origin");
    rmSync(this.#folder, { recursive: true });
  }
}
