import { appendFileSync } from "node:fs";
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

/** The real writer over a database of its own, which is filled with a day of counts and has a first generation. */
export async function startWriter({ databasePath, folder, everySeconds, env }: WriterOptions) {
  const began = Math.floor(Date.now() / 1000);
  const since = began - (historyHours + 1) * 3600;
  const [logPath, history, counts] = ["writer.log", "history.ndjson", "counts.ndjson"].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  /** How often `cron` ended with which exit code. */
  const exitCodes: Record<string, number> = {};
  let running: Promise<unknown> = Promise.resolve();
  let nextKillMs: number | undefined;

  const run = async (words: string[], { SOURCES = "", killAfterMs }: RunOptions = {}) => {
    const child = Bun.spawn([writer, ...words], {
      cwd: root,
      env: {
        ...env,
        DB_PATH: databasePath,
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
    appendFileSync(logPath, `${formatTime(Date.now() / 1000)} ${words[0]}: ${exitCode}\n${said}`);
    return { exitCode, said };
  };

  const cron = async () => {
    const killAfterMs = nextKillMs;
    nextKillMs = undefined;
    await Bun.write(counts, linesAt(Math.floor(Date.now() / 1000), since));
    const { exitCode } = await run(["cron"], { SOURCES: counts, killAfterMs });
    const name = exitCode === killedCode ? "killed" : String(exitCode);
    exitCodes[name] = (exitCodes[name] ?? 0) + 1;
  };

  const file = Bun.file(history).writer();
  for (let second = began - historyHours * 3600; second < began; second += everySeconds)
    file.write(linesAt(second, since));
  await file.end();
  for (const words of [["migrate"], ["ingest", history], ["rank"], ["prune"]]) {
    const { exitCode, said } = await run(words);
    if (exitCode !== 0)
      throw new Error(`writer ${words.join(" ")} ended with ${exitCode}: ${said.slice(-500)}`);
  }
  await Bun.file(history).delete();

  return {
    exitCodes,

    /** A run of every minute: new counts are there, cron runs. Runs follow each other. */
    runOnce(): Promise<unknown> {
      running = running.then(cron);
      return running;
    },

    /** The next run is killed after so many milliseconds, unless it ends before. */
    killNext(afterMs: number): void {
      nextKillMs = afterMs;
    },

    /** Unix seconds, by its own clock. */
    async readClock(): Promise<number> {
      const { said } = await run(["prune"]);
      return Date.parse(/"time":"([^"]+)"/.exec(said)?.[1] ?? "") / 1000;
    },
  };
}

type RunOptions = { SOURCES?: string; killAfterMs?: number | undefined };

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
