import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type MinuteOfSite, sumOf } from "./figures.ts";
import { type Options, run } from "./run.ts";

type Result = Awaited<ReturnType<typeof run>>;

const root = resolve(import.meta.dir, "../..");
const usualHours = 1 / 3; // for a warm-up, some of each event, and minutes at both ends to compare
const hourSeconds = 3600;
const text = { type: "string" } as const;

if (import.meta.main)
  process.exitCode = await main(Bun.argv.slice(2)).catch((error: unknown) => {
    console.error(`bin/endurance: ${error instanceof Error ? error.message : error}`);
    return 2;
  });

async function main(argv: string[]): Promise<number> {
  const options = parseOptions(argv, () => crypto.getRandomValues(new Uint32Array(1))[0] ?? 1);
  return options.kills === null ? endure(options) : killWriter(options.kills, options.seed);
}

async function endure(options: Options): Promise<number> {
  console.log(`Seed ${options.seed}: with --seed ${options.seed} the same happens at the same times.`);
  const result = await run(options, (line) => console.log(line));
  console.log(describe(result).join("\n"));
  console.log(`Written to ${writeResult(result)}`);
  return isSteady(result) ? 0 : 1;
}

/** PHPUnit has the test; this gives it a count. */
async function killWriter(kills: number, seed: number): Promise<number> {
  const words = ["phpunit", "--configuration", join(root, "writer/phpunit.xml"), "--filter", "KillTest"];
  const env = { ...process.env, TEST_KILLS: String(kills), TEST_SEED: String(seed) };
  return Bun.spawn(words, { cwd: root, env, stdio: ["ignore", "inherit", "inherit"] }).exited;
}

/** `newSeed` is for a run that names none. @throws Error of one sentence */
export function parseOptions(argv: string[], newSeed: () => number): Options {
  const { values } = parseArgs({
    args: argv,
    options: {
      hours: text,
      seed: text,
      "writer-seconds": text,
      requests: text,
      kills: text,
      "no-clocks": { type: "boolean" },
    },
  });
  const read = (name: Exclude<keyof typeof values, "no-clocks">, least: number): number | null => {
    const value = values[name];
    if (value === undefined) return null;
    const number = Number(value);
    if (value.trim() !== "" && number >= least) return number;
    throw new Error(`--${name} is ${value}: expected a number of at least ${least}`);
  };
  return {
    seconds: Math.round((read("hours", 0.33) ?? usualHours) * hourSeconds),
    seed: read("seed", 1) ?? newSeed(),
    writerSeconds: read("writer-seconds", 5) ?? 60,
    requestsPerSecond: read("requests", 1) ?? 40,
    movesClocks: values["no-clocks"] !== true,
    kills: read("kills", 1),
  };
}

function isSteady({ judgements, failures, database }: Result): boolean {
  return judgements.every(({ isMet }) => isMet) && failures.length === 0 && database === "ok";
}

/** Gives the path of the file. */
function writeResult(result: Result): string {
  const path = join(import.meta.dir, "results/result.json");
  mkdirSync(dirname(path), { recursive: true });
  const machine = { cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length };
  const requests = sumOf(result.minutes.map(({ requests }) => requests));
  const { samples, minutes, events, ...summary } = result;
  const head = { measured_at: new Date().toISOString(), machine, requests };
  writeFileSync(path, `${JSON.stringify({ ...head, ...summary, events, minutes, samples }, rounded, 1)}\n`);
  return path;
}

function rounded(_name: string, value: unknown): unknown {
  return typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value;
}

/** The verdict for people, a line each. */
function describe(result: Result): string[] {
  const lines = result.judgements.map(({ name, measured, most, isMet }) => {
    const shown = measured === null ? "not measured" : Number(measured.toPrecision(4));
    return `${isMet ? "ok    " : "MISSED"} ${name}: ${shown}, at most ${most}`;
  });
  const sum = (pick: (minute: MinuteOfSite) => number) => sumOf(result.minutes.map(pick));
  const excused = `${sum(({ torn }) => torn)} torn by a kill, ${sum(({ refused }) => refused)} refused by a clock`;
  const load = `load ${result.load.before.toFixed(2)} before, ${result.load.mean.toFixed(2)} during`;
  return [
    ...lines,
    `${result.database === "ok" ? "ok    " : "MISSED"} integrity of the database: ${result.database}`,
    ...result.failures.map((failure) => `failed: ${failure}`),
    ...result.unmovedClocks,
    `${sum(({ requests }) => requests)} requests, of them ${excused}; ${result.events.length} events; ${load}`,
    `Verdict: ${isSteady(result) ? "steady" : "NOT steady"} over ${result.seconds} seconds (seed ${result.seed})`,
  ];
}
