import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { testFolder } from "@trendvault/kit/machine";
import { countHouse } from "./count-house.ts";
import { describeResult, summarize } from "./report.ts";
import { runSuite, type SuiteResult } from "./run-suite.ts";
import { parts, type Suite, suites } from "./suites.ts";

type Options = ReturnType<typeof parseOptions>;

const root = resolve(import.meta.dir, "../..");
const largestSeed = 2 ** 32 - 1;

if (import.meta.main)
  process.exitCode = await main(Bun.argv.slice(2)).catch((error: unknown) => {
    console.error(`bin/test: ${error instanceof Error ? error.message : error}`);
    return 2;
  });

async function main(argv: string[]): Promise<number> {
  const options = parseOptions(argv);
  const chosen = suites
    .filter(({ part }) => options.parts.length === 0 || options.parts.includes(part))
    .filter(({ name }) => name.startsWith(options.only));
  if (options.list) {
    for (const { part, name, command } of chosen) console.log(`${part}: ${name}: ${command.join(" ")}`);
    return 0;
  }
  if (options.count) {
    countHouse("HEAD");
    return 0;
  }
  console.log(`Seed ${options.seed}: with --seed ${options.seed} the same is drawn at random.`);
  if (chosen.some(({ needsStore }) => needsStore)) await bring("versitygw");
  if (chosen.some(({ needsPrometheus }) => needsPrometheus)) await bring("prometheus");
  const results = await runAll(chosen, { ...options, folder: testFolder() });
  console.log(summarize(results));
  return results.every(({ failed }) => failed === 0) ? 0 : 1;
}

/**
 * `parts` is empty for all parts; `only` is how the names of the chosen suites begin. `long`: whether tests that draw
 * cases at random draw many; what they draw follows from `seed`.
 *
 * @throws Error whose message names the bad argument and what was expected
 */
export function parseOptions(argv: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      only: { type: "string", default: "" },
      jobs: { type: "string", default: String(2 * availableParallelism()) }, // many wait, for processes and minutes
      list: { type: "boolean", default: false },
      count: { type: "boolean", default: false },
      long: { type: "boolean", default: false },
      seed: { type: "string" },
    },
  });
  const unknown = positionals.find((part) => !parts.includes(part));
  if (unknown !== undefined) throw new Error(`Unknown part "${unknown}": expected ${parts.join(", ")}`);
  if (!/^[1-9]\d?$/.test(values.jobs)) throw new Error(`--jobs is "${values.jobs}": expected 1 to 99`);
  const seed = values.seed === undefined ? defaultSeed(values.long) : parseSeed(values.seed);
  if (!suites.some(({ name }) => name.startsWith(values.only)))
    throw new Error(`No suite has a name that begins with "${values.only}": bin/test --list shows them`);
  const { only, list, count, long } = values;
  return { parts: positionals, only, jobs: Number(values.jobs), list, count, long, seed };
}

function parseSeed(text: string): number {
  if (text === "random") return randomSeed();
  const seed = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : 0;
  if (seed === 0 || seed > largestSeed)
    throw new Error(`--seed is "${text}": expected 1 to ${largestSeed}, or random`);
  return seed;
}

/**
 * The seed of the committed files, so that what was drawn before a commit was pushed is drawn of it everywhere, and
 * each commit draws anew. Long runs look for what no run has drawn yet, and files without a repository have no commit.
 */
function defaultSeed(long: boolean): number {
  const { exitCode, stdout } = Bun.spawnSync(["git", "rev-parse", "HEAD^{tree}"], { cwd: root });
  if (long || exitCode !== 0) return randomSeed();
  return Number.parseInt(stdout.toString().slice(0, 8), 16) || largestSeed;
}

function randomSeed(): number {
  return 1 + Math.floor(Math.random() * largestSeed);
}

/** Where the tool cannot be had, its script says why, and so do the tests that need it, which are skipped. */
async function bring(tool: string): Promise<void> {
  await Bun.spawn([join(root, "tools/setup/bring"), tool], { stdio: ["ignore", "inherit", "inherit"] })
    .exited;
}

/** Runs the suites in their order, `jobs` at a time, those last that run alone, and reports each as it ends. */
async function runAll(
  chosen: readonly Suite[],
  { jobs, folder, long, seed }: Options & { folder: string },
): Promise<SuiteResult[]> {
  const results: SuiteResult[] = [];
  const runFrom = async (queue: Suite[]): Promise<void> => {
    for (let suite = queue.shift(); suite !== undefined; suite = queue.shift()) {
      const result = await runSuite(suite, { root, folder, long, seed });
      console.log(describeResult(result));
      results.push(result);
    }
  };
  const sideBySide = chosen.filter(({ isAlone }) => !isAlone);
  await Promise.all(Array.from({ length: jobs }, () => runFrom(sideBySide)));
  await runFrom(chosen.filter(({ isAlone }) => isAlone));
  return results;
}
