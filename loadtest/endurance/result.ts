import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { drawChart, panelsOf } from "./chart.ts";
import type { PastEvent } from "./events.ts";
import type { MinuteOfSite } from "./figures.ts";
import type { Judgement } from "./judge-run.ts";
import type { Sample } from "./samples.ts";

/** A run, as it is written to result.json. */
export type Result = {
  seed: number;
  seconds: number;
  requestsPerSecond: number;
  writerSeconds: number;
  /** Load averages of a minute: before the run, and the mean of those during it, which the run itself causes a part of. */
  load: { before: number; mean: number };
  judgements: Judgement[];
  /** The first failures, as sentences. */
  failures: string[];
  writerExitCodes: Record<string, number>;
  /** "ok", or what SQLite's integrity check finds. */
  database: string;
  hasFullDisk: boolean;
  /** Sentences: which clocks could not be moved, and why. */
  unmovedClocks: string[];
  events: PastEvent[];
  minutes: MinuteOfSite[];
  samples: Sample[];
};

export function isSteady({ judgements, failures, database }: Result): boolean {
  return judgements.every(({ isMet }) => isMet) && failures.length === 0 && database === "ok";
}

/** Writes result.json and chart.svg into a folder. */
export function writeResult(result: Result, folder: string): void {
  mkdirSync(folder, { recursive: true });
  const measuredAt = new Date().toISOString();
  const machine = { cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length };
  writeFileSync(
    join(folder, "result.json"),
    `${JSON.stringify({ measured_at: measuredAt, machine, ...result }, rounded, 1)}\n`,
  );
  writeFileSync(join(folder, "chart.svg"), chartOf(result));
}

const digits = 5;

function rounded(_name: string, value: unknown): unknown {
  return typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(digits)) : value;
}

function chartOf({ seed, seconds, events, samples, minutes }: Result): string {
  const marks = events.map(({ second, kind }) => ({ second, name: kind }));
  const title = `${(seconds / 60).toFixed()} minutes under load, seed ${seed}; a grey line is a kill, a reload, a full disk or a clock that is moved`;
  return drawChart(title, { panels: panelsOf({ samples, minutes }), marks, seconds });
}

/** The verdict for people, a line each. */
export function describe(result: Result): string[] {
  const lines = result.judgements.map(({ name, measured, most, isMet }) => {
    const shown = measured === null ? "not measured" : Number(measured.toPrecision(4));
    return `${isMet ? "ok    " : "MISSED"} ${name}: ${shown}, at most ${most}`;
  });
  const sumOf = (pick: (minute: MinuteOfSite) => number) =>
    result.minutes.reduce((sum, one) => sum + pick(one), 0);
  const excused = `${sumOf(({ torn }) => torn)} torn by a kill, ${sumOf(({ refused }) => refused)} refused by a clock`;
  const load = `load ${result.load.before.toFixed(2)} before, ${result.load.mean.toFixed(2)} during`;
  return [
    ...lines,
    `${result.database === "ok" ? "ok    " : "MISSED"} integrity of the database: ${result.database}`,
    ...result.failures.map((failure) => `failed: ${failure}`),
    ...result.unmovedClocks,
    `${sumOf(({ requests }) => requests)} requests, of them ${excused}; ${result.events.length} events; ${load}`,
    `Verdict: ${isSteady(result) ? "steady" : "NOT steady"} over ${result.seconds} seconds (seed ${result.seed})`,
  ];
}
