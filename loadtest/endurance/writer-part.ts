import { join, resolve } from "node:path";
import { formatTime, linesAt } from "./moving-data.ts";

const root = resolve(import.meta.dir, "../..");
const writer = join(root, "writer/bin/writer");
const historyHours = 25; // KEEP_DAYS is 1: with every run, as much is deleted as comes
/** The exit code of a process that SIGKILL ended. */
const killedCode = 128 + 9;

type WriterOptions = {
  databasePath: string;
  folder: string;
  everySeconds: number;
  env: Record<string, string>;
};

/** The real writer over a database of its own. Its runs follow each other. */
export class WriterPart {
  /** How often `cron` ended with which exit code. */
  readonly exitCodes: Record<string, number> = {};
  readonly #options: WriterOptions;
  readonly #since = Math.floor(Date.now() / 1000) - (historyHours + 1) * 3600;
  #running: Promise<unknown> = Promise.resolve();
  #killAfterMs: number | null = null;
  #saidAt = Number.NaN;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  /** Fills the database with a day of counts and publishes a first generation. @throws Error when that fails */
  async fill(): Promise<void> {
    const now = Math.floor(Date.now() / 1000);
    const path = join(this.#options.folder, "history.ndjson");
    const file = Bun.file(path).writer();
    for (let second = now - historyHours * 3600; second < now; second += this.#options.everySeconds)
      file.write(linesAt(second, this.#since));
    await file.end();
    for (const words of [["migrate"], ["ingest", path], ["rank"], ["prune"]]) {
      const exitCode = await this.#run(words);
      if (exitCode !== 0)
        throw new Error(`writer ${words.join(" ")} ended with ${exitCode}; see ${this.logPath}`);
    }
    await Bun.file(path).delete();
  }

  get databasePath(): string {
    return this.#options.databasePath;
  }

  get logPath(): string {
    return join(this.#options.folder, "writer.log");
  }

  /** A run of every minute: new counts are there, cron runs. Gives its exit code. */
  async runOnce(): Promise<number> {
    const exitCode = this.#running.then(() => this.#cron());
    this.#running = exitCode;
    return exitCode;
  }

  /** The next run is killed after so many milliseconds, unless it ends before. */
  killNext(afterMs: number): void {
    this.#killAfterMs = afterMs;
  }

  /** Unix seconds, by its own clock. */
  async readClock(): Promise<number> {
    await this.#run(["prune"]);
    return this.#saidAt;
  }

  async #cron(): Promise<number> {
    const killAfterMs = this.#killAfterMs ?? undefined;
    this.#killAfterMs = null;
    const lines = linesAt(Math.floor(Date.now() / 1000), this.#since);
    const path = join(this.#options.folder, "counts.ndjson");
    await Bun.write(path, lines);
    const exitCode = await this.#run(["cron"], { SOURCES: path, killAfterMs });
    const name = exitCode === killedCode ? "killed" : String(exitCode);
    this.exitCodes[name] = (this.exitCodes[name] ?? 0) + 1;
    return exitCode;
  }

  async #run(
    words: string[],
    { SOURCES = "", killAfterMs }: { SOURCES?: string; killAfterMs?: number | undefined } = {},
  ): Promise<number> {
    const { databasePath: DB_PATH, env } = this.#options;
    const log = await Bun.file(this.logPath)
      .text()
      .catch(() => "");
    const child = Bun.spawn([writer, ...words], {
      cwd: root,
      env: { ...env, DB_PATH, SOURCES, KEEP_DAYS: "1", GENERATION_RETENTION_SECONDS: "300" },
      stdio: ["ignore", "ignore", "pipe"],
      detached: true,
    });
    const timer = killAfterMs === undefined ? undefined : setTimeout(() => killGroup(child.pid), killAfterMs);
    const said = await child.stderr.text();
    const exitCode = await child.exited;
    clearTimeout(timer);
    this.#saidAt = Date.parse(/"time":"([^"]+)"/.exec(said)?.[1] ?? "") / 1000;
    const keptCharacters = 20_000;
    await Bun.write(
      this.logPath,
      `${log}${formatTime(Date.now() / 1000)} ${words[0]}: ${exitCode}\n${said}`.slice(-keptCharacters),
    );
    return exitCode;
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // it has ended
  }
}
