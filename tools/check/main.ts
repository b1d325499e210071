import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Options, parseOptions } from "./options.ts";
import { repeatFailed } from "./repeat.ts";
import { describeOutput, describeResult, summarize } from "./report.ts";
import { runSuite, type SuiteResult } from "./run-suite.ts";
import { type Suite, suites } from "./suites.ts";

const root = resolve(import.meta.dir, "../..");

process.exitCode = await main(Bun.argv.slice(2)).catch((error: unknown) => {
  console.error(`bin/test: ${error instanceof Error ? error.message : error}`);
  return 2;
});

async function main(argv: string[]): Promise<number> {
  const options = parseOptions(argv);
  const chosen = suites
    .filter(({ part }) => options.parts.length === 0 || options.parts.includes(part))
    .filter(({ name }) => name.startsWith(options.only));
  if (options.list)
    return print(
      chosen.map(({ part, name, command }) => `${part}: ${name}: ${command.join(" ")}\n`).join(""),
    );
  print(`Seed ${options.seed}: with --seed ${options.seed} the same is drawn at random.\n`);
  if (chosen.some(({ needsStore }) => needsStore)) await bring("versitygw");
  if (chosen.some(({ needsPrometheus }) => needsPrometheus)) await bring("prometheus");
  const results = await runAll(chosen, options);
  for (const result of results) process.stdout.write(describeOutput(result));
  print(`\n${summarize(results)}\n`);
  return results.every(({ failed }) => failed === 0) ? 0 : 1;
}

/** Where it cannot be had, it says why, and so do the tests that need it, which are skipped. */
async function bring(tool: string): Promise<void> {
  await Bun.spawn([join(root, `tools/setup/${tool}.sh`)], { stdio: ["ignore", "inherit", "inherit"] }).exited;
}

/** Runs the suites in their order, `jobs` at a time, and reports each as it ends. */
async function runAll(chosen: readonly Suite[], { jobs, long, once, seed }: Options): Promise<SuiteResult[]> {
  const reports = await mkdtemp(join(tmpdir(), "trendvault-test-"));
  const queue = [...chosen];
  const results: SuiteResult[] = [];
  let runs = 0;
  const run = async (suite: Suite): Promise<SuiteResult> => {
    const result = await runSuite(suite, { root, report: join(reports, `${++runs}.xml`), long, seed });
    console.log(describeResult(result));
    return result;
  };
  const runFromQueue = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) results.push(await run(next));
  };
  await Promise.all(Array.from({ length: jobs }, runFromQueue));
  const judged = once ? results : await repeatFailed(results, run);
  await rm(reports, { recursive: true });
  return judged;
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}
