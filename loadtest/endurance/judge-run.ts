import { type MinuteOfSite, median } from "./figures.ts";
import { sites } from "./outages.ts";
import type { Sample } from "./samples.ts";

/** What was measured beside what is allowed; `measured` is null where there is nothing to compare. */
export type Judgement = { name: string; measured: number | null; most: number; isMet: boolean };

/**
 * `recoverySeconds` is how long each event took until everything was well again, `supersededSeconds` the longest that the
 * edge served a list for which there was a newer one.
 */
export type Measured = {
  samples: Sample[];
  minutes: MinuteOfSite[];
  recoverySeconds: number[];
  supersededSeconds: number;
};

/** The limits, and all there is to say about them, are in loadtest/README.md. */
const limits = {
  growth: 1.1, // of memory, handles and the file
  p99Growth: 1.5,
  walMegabytes: 64,
  recoverySeconds: 60,
  supersededSeconds: 300,
} as const;

/** While caches fill and code is compiled. */
const warmUpShare = 0.15;

/** Compares the last third of a run with the first one after the warm-up. */
export function judgeRun({ samples, minutes, recoverySeconds, supersededSeconds }: Measured): Judgement[] {
  const grown = (name: string, pick: (sample: Sample) => number) =>
    judge(name, growthOf(samples.map(pick)), limits.growth);
  return [
    judge("failed requests", sumOf(minutes.map(({ failed }) => failed)), 0),
    grown("memory of the origin", ({ originMegabytes }) => originMegabytes),
    grown("memory of the edge", ({ edgeMegabytes }) => edgeMegabytes),
    grown("handles of the origin", ({ originHandles }) => originHandles),
    grown("handles of the edge", ({ edgeHandles }) => edgeHandles),
    grown("database file", ({ databaseMegabytes }) => databaseMegabytes),
    judge(
      "largest WAL, MB",
      Math.max(...samples.map(({ walMegabytes }) => walMegabytes)),
      limits.walMegabytes,
    ),
    ...sites.map((site) => {
      const ofSite = minutes.filter((one) => one.site === site).map(({ p99 }) => p99);
      return judge(`p99 of the ${site}`, growthOf(ofSite), limits.p99Growth);
    }),
    judge("longest recovery, s", Math.max(0, ...recoverySeconds), limits.recoverySeconds),
    judge("a list at the edge after the next one, s", supersededSeconds, limits.supersededSeconds),
  ];
}

/** The median of the last third over that of the first third after the warm-up; null of fewer than six values. */
export function growthOf(values: readonly number[]): number | null {
  const warm = values.slice(Math.floor(values.length * warmUpShare));
  const third = Math.floor(warm.length / 3);
  if (third < 2) return null;
  return median(warm.slice(-third)) / median(warm.slice(0, third));
}

function judge(name: string, measured: number | null, most: number): Judgement {
  return { name, measured, most, isMet: measured !== null && measured <= most };
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
