import { Database } from "bun:sqlite";
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Random } from "@trendvault/contract/test-support/random";

const root = resolve(import.meta.dir, "../../..");
const writer = join(root, "writer/bin/writer");
const videosPerRegion = 40;
export const publishedRegions = ["GB", "DE", "FR"] as const;
/** The exit code of a process that SIGKILL ended. */
export const killedCode = 128 + 9;

/** The real writer on a database of its own. Each run ingests newer counts and publishes a generation. */
export class Publisher {
  readonly #folder: string;
  readonly #env: Record<string, string>;
  readonly #random: Random;
  readonly #startedAt = Date.now();
  #views = new Map<string, number>();
  #batches = 0;

  /** `env` has what publishing needs. */
  constructor(folder: string, { env, random }: { env: Record<string, string>; random: Random }) {
    this.#folder = folder;
    this.#random = random;
    mkdirSync(join(folder, "spool"), { recursive: true });
    this.#env = { ...env, DB_PATH: this.databasePath, SOURCES: `spool:${join(folder, "spool")}` };
  }

  get databasePath(): string {
    return join(this.#folder, "writer.db");
  }

  /** How many observations the writer was given. */
  get observations(): number {
    return this.#batches * publishedRegions.length * videosPerRegion;
  }

  /**
   * A minute of the writer: new counts are there, cron runs. Gives its exit code. `bundle` makes a bundle, too;
   * after `killAfterMs` the process is killed.
   */
  async publish(options: { bundle: boolean; killAfterMs?: number }): Promise<number> {
    this.#spool();
    return this.run(["cron"], options);
  }

  /** The same with all the time that a slow machine needs, where nothing goes wrong. */
  async publishUnhurried(options: { bundle: boolean }): Promise<number> {
    this.#spool();
    return this.run(["cron"], { ...options, settings: { PUBLISH_TIMEOUT_SECONDS: "300" } });
  }

  async run(
    words: string[],
    {
      bundle = false,
      killAfterMs,
      settings = {},
    }: { bundle?: boolean; killAfterMs?: number; settings?: Record<string, string> } = {},
  ): Promise<number> {
    const render = bundle ? { RENDER_COMMAND: `${process.execPath} --no-env-file api/src/render.ts` } : {};
    const log = openSync(join(this.#folder, "writer.log"), "a");
    const child = Bun.spawn([writer, ...words], {
      cwd: root,
      env: { ...this.#env, ...render, ...settings },
      stdin: "ignore",
      stdout: "ignore",
      stderr: log,
    });
    closeSync(log);
    const timer =
      killAfterMs === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), killAfterMs);
    const exitCode = await child.exited;
    clearTimeout(timer);
    return exitCode;
  }

  /** What a command prints. @throws Error when it fails */
  async read(words: string[]): Promise<string> {
    const child = Bun.spawn([writer, ...words], {
      cwd: root,
      env: this.#env,
      stdout: "pipe",
      stderr: "pipe",
    });
    const [printed, said] = [await child.stdout.text(), await child.stderr.text()];
    if ((await child.exited) !== 0) throw new Error(`writer ${words.join(" ")} failed: ${said}`);
    return printed;
  }

  /** The end of what its runs wrote. */
  log(): string {
    return readFileSync(join(this.#folder, "writer.log"), "utf8").slice(-2000);
  }

  query<Row>(sql: string, ...values: (string | number)[]): Row[] {
    using database = new Database(this.databasePath, { readonly: true });
    return database.query<Row, (string | number)[]>(sql).all(...values);
  }

  /** A file of counts, a second after the ones before it and none in the future. */
  #spool(): void {
    const lines = publishedRegions.flatMap((region) =>
      Array.from({ length: videosPerRegion }, (_, index) => JSON.stringify(this.#observe(region, index))),
    );
    const name = `${String(this.#batches++).padStart(6, "0")}.ndjson`;
    writeFileSync(join(this.#folder, name), `${lines.join("\n")}\n`);
    renameSync(join(this.#folder, name), join(this.#folder, "spool", name));
  }

  #observe(region: string, index: number): object {
    const id = `${region}-${index}`;
    const views = (this.#views.get(id) ?? 1000) + this.#random.below(100 * (1 + (index % 7)));
    this.#views.set(id, views);
    const observedAt = this.#startedAt - 3_600_000 + this.#batches * 1000;
    return {
      id,
      region,
      observed_at: new Date(observedAt).toISOString().replace(/\.\d+Z$/, "Z"),
      published_at: new Date(this.#startedAt - 30 * 3_600_000).toISOString(),
      views,
      title: `Video ${index} of ${region}`,
      channel: `Channel ${index}`,
      thumb_base: `https://thumbs.example/${id}`,
    };
  }
}
