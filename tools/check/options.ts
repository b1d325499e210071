import { parseArgs } from "node:util";
import { parts, suites } from "./suites.ts";

/** `parts` is empty for all parts; `only` is how the names of the chosen suites begin. */
export type Options = {
  parts: readonly string[];
  only: string;
  jobs: number;
  list: boolean;
  /** Whether tests that draw cases at random draw many. */
  long: boolean;
  /** Whether no suite is run a second time. */
  once: boolean;
  /** What they draw follows from it. */
  seed: number;
};

const largestSeed = 2 ** 32 - 1;

/** @throws Error whose message names the bad argument and what was expected */
export function parseOptions(argv: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      only: { type: "string", default: "" },
      jobs: { type: "string", default: "2" },
      list: { type: "boolean", default: false },
      long: { type: "boolean", default: false },
      once: { type: "boolean", default: false },
      seed: { type: "string", default: String(1 + Math.floor(Math.random() * largestSeed)) },
    },
  });
  const unknown = positionals.find((part) => !parts.includes(part));
  if (unknown !== undefined) throw new Error(`Unknown part "${unknown}": expected ${parts.join(", ")}`);
  if (!/^[1-9]\d?$/.test(values.jobs)) throw new Error(`--jobs is "${values.jobs}": expected 1 to 99`);
  const seed = /^[1-9]\d{0,9}$/.test(values.seed) ? Number(values.seed) : 0;
  if (seed === 0 || seed > largestSeed)
    throw new Error(`--seed is "${values.seed}": expected 1 to ${largestSeed}`);
  if (!suites.some(({ name }) => name.startsWith(values.only)))
    throw new Error(`No suite has a name that begins with "${values.only}": bin/test --list shows them`);
  const { only, list, long, once } = values;
  return { parts: positionals, only, jobs: Number(values.jobs), list, long, once, seed };
}
