import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { exitOf, launch } from "@trendvault/kit/machine";
import { XMLParser, XMLValidator } from "fast-xml-parser";
import type { Suite } from "./suites.ts";

/** `name` with the file or class that the report gives; `message` is the runner's, of any length and with its line ends. */
type Failure = { name: string; message: string };

/** `reason` is null where the report gives none. */
type Skipped = { name: string; reason: string | null };

type TestCount = {
  passed: number;
  failed: number;
  skipped: readonly Skipped[];
  /** May hold fewer than `failed`: not every suite names its tests. */
  failures: readonly Failure[];
  /** Says in a sentence why the suite failed where no failed test says it. */
  failureReason?: string;
};

export type SuiteResult = TestCount & { suite: Suite; seconds: number; output: string };

/** `folder` is where tests write; `long` and `seed` are as in bin/test's options. */
type RunOptions = { root: string; folder: string; long: boolean; seed: number };

/** Of a test that hangs: any other ends sooner, however busy the machine is. Waits within tests (until.ts) are shorter. */
const timeoutMs = { usual: 1_200_000, long: 3_600_000 };

/** Runs one suite in `root`. Never throws for a failing suite. */
export async function runSuite(suite: Suite, options: RunOptions): Promise<SuiteResult> {
  const absence = whyAbsent(suite);
  if (absence !== null) {
    const skipped = [{ name: suite.name, reason: absence }];
    return { suite, seconds: 0, output: "", passed: 0, failed: 0, failures: [], skipped };
  }
  const started = performance.now();
  const report = join(options.folder, `${Bun.randomUUIDv7()}.xml`);
  const { exitCode, output } = await execute(expand(suite, { ...options, report }), options);
  const seconds = (performance.now() - started) / 1000;
  return { suite, seconds, output, ...countResult(suite, { exitCode, output, report }) };
}

function whyAbsent({ command, pinned }: Suite): string | null {
  const program = command[0] ?? "";
  if (pinned === undefined) return null;
  const found = Bun.which(program) === null ? "" : Bun.spawnSync([program, "--version"]).stdout.toString();
  return found.trim().split(" ").at(-1) === pinned.version
    ? null
    : `${program} ${pinned.version} is not here: ${pinned.get}`;
}

type SuiteRun = { exitCode: number; output: string; report: string };

/** Counts the tests of a finished run; a run that cannot be counted has failed. */
function countResult(suite: Suite, run: SuiteRun): TestCount {
  const count = countTests(suite, run);
  if (count === null) return failure(`it left no count of its tests (exit code ${run.exitCode})`);
  if (count.failureReason !== undefined) return count;
  if (count.passed + count.failed === 0) return failure("it ran no test");
  if (run.exitCode !== 0 && count.failed === 0) {
    return {
      ...failure(`its tests passed, but it ended with exit code ${run.exitCode}`),
      passed: count.passed,
    };
  }
  return count;
}

function countTests(suite: Suite, { exitCode, output, report }: SuiteRun): TestCount | null {
  switch (suite.counting) {
    case "exit-code":
      return exitCode === 0
        ? { passed: 1, failed: 0, skipped: [], failures: [] }
        : failure(`exit code ${exitCode}`);
    case "closing-line":
      return countClosingLine(output);
    case "junit":
      return existsSync(report) ? countReport(report) : null;
  }
}

function countReport(path: string): TestCount {
  try {
    return countJunit(readFileSync(path, "utf8"));
  } catch (error) {
    return failure(error instanceof Error ? error.message : String(error));
  }
}

function failure(failureReason: string): TestCount {
  return { passed: 0, failed: 1, skipped: [], failures: [], failureReason };
}

function expand(suite: Suite, { root, report, long }: RunOptions & { report: string }): string[] {
  const timeout = String(long ? timeoutMs.long : timeoutMs.usual);
  return suite.command.flatMap((word) => {
    if (word === "FILES") return trackedFiles(suite.files ?? [], root);
    return [word.replace("REPORT", report).replace("TIMEOUT_MS", timeout)];
  });
}

/**
 * The files of the project, relative to `root`, that match patterns of `git ls-files`: tracked ones and new ones that
 * git does not ignore.
 */
function trackedFiles(patterns: readonly string[], root: string): string[] {
  const command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", ...patterns];
  const { stdout, stderr, exitCode } = Bun.spawnSync(command, { cwd: root });
  if (exitCode !== 0) throw new Error(`Cannot list the files to check: ${stderr.toString().trim()}`);
  const files = stdout.toString().split("\n");
  return files.filter((file) => file !== "" && existsSync(join(root, file)));
}

/** Tests read TEST_SEED and TEST_LONG where they draw at random. */
async function execute(
  command: string[],
  { root, folder, long, seed }: RunOptions,
): Promise<{ exitCode: number; output: string }> {
  const child = launch(["sh", "-c", 'exec "$@" 2>&1', "sh", ...command], {
    cwd: root,
    env: { ...process.env, TMPDIR: folder, TEST_SEED: String(seed), TEST_LONG: long ? "1" : "" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [output, exitCode] = await Promise.all([text(child.stdout as Readable), exitOf(child)]);
  return { exitCode, output };
}

type Element = Record<string, unknown>;

/**
 * Counts the test cases of a JUnit report (bun, PHPUnit and pytest write slightly different ones;
 * `<testcase>` with an optional `<failure>`, `<error>` or `<skipped>` inside is what they share).
 * Throws when the text is not a whole XML document: a runner that died leaves half a report.
 */
function countJunit(xml: string): TestCount {
  const valid = XMLValidator.validate(xml);
  if (valid !== true) throw new Error(`the JUnit report is not valid XML: ${valid.err.msg}`);
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: "@", // node gives a failed case an attribute and a child of one name
    htmlEntities: true, // for line ends, which are numbers there
    isArray: (_name, _path, _leaf, attribute) => !attribute,
  });
  const cases = findAll(parser.parse(xml), "testcase");
  const skipped = cases.filter((testcase) => "skipped" in testcase);
  const failed = cases.filter((testcase) => "failure" in testcase || "error" in testcase);
  return {
    passed: cases.length - failed.length - skipped.length,
    failed: failed.length,
    skipped: skipped.map(describeSkipped),
    failures: failed.map(describeFailure),
  };
}

/**
 * Reads the last line of the form "N passed, N failed", and as names of failed tests the lines "FAILED <name>"; null
 * where nothing is counted.
 */
function countClosingLine(output: string): TestCount | null {
  const found = [...output.matchAll(/^(\d+) passed, (\d+) failed$/gm)].at(-1);
  if (!found) return null;
  const failures = [...output.matchAll(/^FAILED (.+)$/gm)].map(([, name]) => ({
    name: String(name),
    message: "",
  }));
  return { passed: Number(found[1]), failed: Number(found[2]), skipped: [], failures };
}

function findAll(node: unknown, tag: string): Element[] {
  if (Array.isArray(node)) return node.flatMap((child) => findAll(child, tag));
  if (typeof node !== "object" || node === null) return [];
  return Object.entries(node).flatMap(([name, child]) =>
    name === tag ? (child as Element[]) : findAll(child, tag),
  );
}

function describeSkipped(testcase: Element): Skipped {
  const [mark] = testcase.skipped as (Element | string)[];
  const reason = typeof mark === "object" ? (mark["@message"] ?? mark["#text"]) : mark;
  return { name: String(testcase["@name"]), reason: reason ? String(reason) : null };
}

function describeFailure(testcase: Element): Failure {
  const [mark] = (testcase.failure ?? testcase.error) as (Element | string)[];
  const message = typeof mark === "object" ? (mark["@message"] ?? mark["#text"]) : mark;
  return { name: nameWithPlace(testcase), message: withoutName(String(message ?? "")) };
}

/** PHPUnit and Bun give the file, pytest the module as class, node no more than the word "test". */
function nameWithPlace({ "@name": name, "@file": file, "@classname": classname }: Element): string {
  const place = file ? basename(String(file)) : classname;
  return place && place !== "test" ? `${place}: ${name}` : String(name);
}

/** PHPUnit's text begins with a line of class and test. */
function withoutName(text: string): string {
  return text.replace(/^[\w\\]+::.*\n/, "");
}
