import { parseArgs } from "node:util";
import { parts } from "./suites.ts";

export type Options = { parts: readonly string[]; jobs: number; help: boolean; list: boolean };

export const usage = `bin/test [PART…] [--jobs N] [--list]

Installs what is missing and runs every check of the project, or only those of the named parts.
Ends with one line, "N passed, N failed", counted over all suites. A suite that ran no test has failed.

  PART       one or more of: ${parts.join(", ")}
  --jobs N   how many suites run side by side (default 2)
  --list     name the suites and what they run, and run nothing
  --help     this text
`;

/** Throws an Error whose message names the bad argument and what was expected. */
export function parseOptions(argv: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      jobs: { type: "string", default: "2" },
      help: { type: "boolean", default: false },
      list: { type: "boolean", default: false },
    },
  });
  const unknown = positionals.find((part) => !parts.includes(part));
  if (unknown !== undefined) throw new Error(`Unknown part "${unknown}": expected ${parts.join(", ")}`);
  if (!/^[1-9]\d?$/.test(values.jobs)) throw new Error(`--jobs is "${values.jobs}": expected 1 to 99`);
  return { parts: positionals, jobs: Number(values.jobs), help: values.help, list: values.list };
}
