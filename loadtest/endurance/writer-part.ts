import { join, resolve } from "node:path";

const root = resolve(import.meta.dir, "../..");
const writer = join(root, "writer/bin/writer");
const historyHours = 25; // OBSERVATION_RETENTION_HOURS is 24: with every run, as much is deleted as comes
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
      env: {
        ...env,
        DB_PATH,
        SOURCES,
        OBSERVATION_RETENTION_HOURS: "24",
        GENERATION_RETENTION_HOURS: String(300 / 3600),
      },
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

/** What the writer ingests: videos whose view counts grow, each in waves of its own, so that lists move all the time. */
export const observedRegions = ["GB", "DE", "FR"] as const;
const videosPerRegion = 60;
const categories = ["Music", "Gaming"] as const;
const hourSeconds = 3600;

/** The lines of one moment (Unix seconds), as docs/observations.md describes them. */
function linesAt(second: number, since: number): string {
  return observedRegions
    .flatMap((region) =>
      Array.from({ length: videosPerRegion }, (_, index) =>
        JSON.stringify(observe({ region, index, second, since })),
      ),
    )
    .join("\n")
    .concat("\n");
}

type Moment = { region: string; index: number; second: number; since: number };

function observe({ region, index, second, since }: Moment): object {
  const id = `${region.toLowerCase()}-${index}`;
  return {
    id,
    region,
    observed_at: formatTime(second),
    published_at: formatTime(since - hourSeconds),
    views: viewsOf(index, second - since),
    title: `Video ${index} of ${region}`,
    channel: `Channel ${index % 40} of ${region}`,
    category: categories[index % categories.length],
    thumb_base: `https://thumbs.example/${id}`,
  };
}

/** The integral of a rate that swings, with a period between half an hour and three. */
function viewsOf(index: number, age: number): number {
  const perHour = 6000 / (1 + index / 8);
  const period = hourSeconds * (0.5 + (index % 6) / 2);
  const swing = 0.9 * (period / (2 * Math.PI)) * (1 - Math.cos((2 * Math.PI * age) / period));
  return Math.round((perHour / hourSeconds) * (age + swing));
}

/** RFC 3339, in whole seconds. */
function formatTime(second: number): string {
  return new Date(second * 1000).toISOString().replace(/\.\d+Z$/, "Z");
}
