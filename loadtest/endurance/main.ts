import { join, resolve } from "node:path";
import { type Options, parseOptions } from "./options.ts";
import { describe, isSteady, writeResult } from "./result.ts";
import { run } from "./run.ts";

const root = resolve(import.meta.dir, "../..");

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
  const folder = join(import.meta.dir, options.publish ? "published" : "results");
  writeResult(result, folder);
  console.log(describe(result).join("\n"));
  console.log(`Written to ${folder}: result.json, chart.svg`);
  return isSteady(result) ? 0 : 1;
}

/** PHPUnit has the test; this gives it a count. */
async function killWriter(kills: number, seed: number): Promise<number> {
  const words = ["phpunit", "--configuration", join(root, "writer/phpunit.xml"), "--filter", "KillTest"];
  const env = { ...process.env, TEST_KILLS: String(kills), TEST_SEED: String(seed) };
  return Bun.spawn(words, { cwd: root, env, stdio: ["ignore", "inherit", "inherit"] }).exited;
}
