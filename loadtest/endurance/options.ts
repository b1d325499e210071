import { parseArgs } from "node:util";

export type Options = {
  seconds: number;
  seed: number;
  writerSeconds: number;
  requestsPerSecond: number;
  publish: boolean;
  movesClocks: boolean;
  /** How often the writer is killed, and nothing else is done; null for a run of the whole product. */
  kills: number | null;
};

const shortestHours = 1 / 3; // for a warm-up, some of each event, and minutes at both ends to compare
const hourSeconds = 3600;
const text = { type: "string" } as const;

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
      publish: { type: "boolean" },
      "no-clocks": { type: "boolean" },
    },
  });
  const read = (
    name: Exclude<keyof typeof values, "publish" | "no-clocks">,
    least: number,
  ): number | null => {
    const value = values[name];
    if (value === undefined) return null;
    const number = Number(value);
    if (value.trim() !== "" && number >= least) return number;
    throw new Error(
      `--${name} is ${value}: expected a number of at least ${least.toFixed(2).replace(/\.00$/, "")}`,
    );
  };
  return {
    seconds: Math.round((read("hours", shortestHours) ?? shortestHours) * hourSeconds),
    seed: read("seed", 1) ?? newSeed(),
    writerSeconds: read("writer-seconds", 5) ?? 60,
    requestsPerSecond: read("requests", 1) ?? 40,
    publish: values.publish === true,
    movesClocks: values["no-clocks"] !== true,
    kills: read("kills", 1),
  };
}
