import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { describeRelease, writeFiles } from "./files.ts";
import { readState } from "./state.ts";

const root = resolve(import.meta.dir, "../..");

process.exitCode = await main(Bun.argv.slice(2)).catch((error: unknown) => {
  console.error(`bin/release: ${error instanceof Error ? error.message : error}`);
  return 2;
});

/** 0 when the files are there, or were shown; 1 when something is still to do before a release. */
async function main(argv: string[]): Promise<number> {
  const { values } = parseArgs({
    args: argv,
    options: {
      "dry-run": { type: "boolean", default: false },
      output: { type: "string", default: "dist/release" },
      tag: { type: "string" },
    },
  });
  const state = await readState(root, values.tag ?? null);
  if (!values["dry-run"] && state.todo.length > 0) throw new Error(`Not yet:\n${state.todo.join("\n")}`);
  const folder = values["dry-run"]
    ? mkdtempSync(join(tmpdir(), "trendvault-release-"))
    : resolve(values.output);
  try {
    console.log(describeRelease(state, await writeFiles(state, { root, folder })));
  } finally {
    if (values["dry-run"]) rmSync(folder, { recursive: true });
  }
  return 0;
}
