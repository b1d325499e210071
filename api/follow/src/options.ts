import { parseArgs } from "node:util";
import type { CommandLine } from "./settings.ts";

/** Reads the command line of bin/follow. @throws Error that says what was expected */
export function parseOptions(argv: readonly string[]): CommandLine {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      database: { type: "string" },
      metrics: { type: "string" },
      "allow-stale": { type: "boolean", default: false },
      once: { type: "boolean", default: false },
    },
  });
  return {
    stores: positionals,
    database: values.database ?? null,
    metrics: values.metrics ?? null,
    allowStale: values["allow-stale"],
    once: values.once,
  };
}
