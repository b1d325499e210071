import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");

export type Suite = {
  part: string;
  name: string;
  /** How it tells what it ran: a JUnit report at REPORT, a closing line, or its exit code (one check). */
  counting: "junit" | "closing-line" | "exit-code";
  /** argv; REPORT is replaced by the path of the JUnit report, FILES by the tracked files that `files` names, TIMEOUT_MS. */
  command: readonly string[];
  /** Patterns for `git ls-files`, for FILES. */
  files?: readonly string[];
  /** Has tests that need the S3 server that `tools/setup/bring versitygw` brings; where there is none, they are skipped and say why. */
  needsStore?: true;
  /** The same, for `tools/setup/bring prometheus`. */
  needsPrometheus?: true;
  /** Runs after all others: where processors are short, a browser loses clicks and events, and its tests wait for them. */
  isAlone?: true;
  /** Only this version of its program is run. Where it is not found, the suite is skipped and says how to get it. */
  pinned?: { version: string; get: string };
};

/** In one process, so that what tests share is made once: the edge's bundle, the browser. */
const nodeTest = (part: string, name: string, files: string): Suite => ({
  part,
  name,
  counting: "junit",
  command: [
    "node",
    "--test",
    "--experimental-test-isolation=none",
    "--test-timeout=900000", // a guard against hanging, in milliseconds; of a whole describe(), too
    "--test-force-exit",
    "--test-reporter=./tools/check/junit-with-hooks.ts",
    "--test-reporter-destination=REPORT",
    "--test-reporter=spec",
    "--test-reporter-destination=stdout",
    files,
  ],
});

const bunTest = (part: string, path: string, ...flags: string[]): Suite => ({
  part,
  name: "tests",
  counting: "junit",
  command: [
    ...["bun", "test", `./${path}`, "--timeout=TIMEOUT_MS"],
    ...["--reporter=junit", "--reporter-outfile=REPORT", ...flags],
  ],
});

const phpunit = (name: string, testSuite: string): Suite => ({
  part: "writer",
  name,
  counting: "junit",
  needsStore: true,
  command: [
    ...["phpunit", "--configuration", "writer/phpunit.xml", "--testsuite", testSuite],
    ...["--do-not-cache-result", "--display-skipped", "--log-junit", "REPORT"],
  ],
});

const pytest = (part: string, path: string, name = "tests"): Suite => ({
  part,
  name,
  counting: "junit",
  command: ["pytest", path, "--junitxml=REPORT"],
});

/** One check: it passes when the command, split at spaces, exits with 0. */
const check = (part: string, name: string, command: string, files: readonly string[] = []): Suite => ({
  part,
  name,
  counting: "exit-code",
  command: command.split(" "),
  files,
});

const [, magoVersion = ""] = /^version = "(.+)"$/m.exec(readFileSync(join(root, "mago.toml"), "utf8")) ?? [];

/** A suite for each file: they wait for workerd's minutes and outages more than they compute. */
const workerdTests = [...new Bun.Glob("*.workerd.ts").scanSync(join(root, "edge-worker/test"))]
  .sort()
  .map((file) => nodeTest("edge", `tests in workerd: ${file.split(".")[0]}`, `edge-worker/test/${file}`));

/** Those first that take longest: the quick ones fill the gaps. */
export const suites: readonly Suite[] = [
  bunTest("local", "tools/up"),
  phpunit("tests of publication and faults", "faults"),
  { ...bunTest("store", "tests/store"), needsStore: true },
  ...workerdTests,
  bunTest("api", "api/src", "./api/test", "--coverage"),
  phpunit("tests", "parts"),
  bunTest("edge", "edge-worker"),
  pytest("loadtest", "loadtest/tests"),
  { ...bunTest("follow", "api/follow"), needsStore: true },
  { part: "toolchain", name: "tests", counting: "closing-line", command: ["tools/setup/test"] },
  { ...nodeTest("browser", "tests in Chromium", "tests/browser/*.browser.ts"), isAlone: true },
  { ...bunTest("ops", "tests/ops"), needsStore: true, needsPrometheus: true },
  bunTest("client", "web/client"),
  bunTest("contract", "contract"),
  pytest("bench", "loadtest/compare"),
  bunTest("page", "web/page"),
  bunTest("endurance", "loadtest/endurance"),
  bunTest("checks", "tools/check", "./tests/kit"),
  bunTest("release", "tools/release"),
  check("db", "schema.sql is the sum of the migrations", "db/check-schema"),
  check("style", "biome", "bun run biome ci --error-on-warnings --colors=off"),
  check("style", "tsc", "bun run tsc --project tsconfig.json"),
  check("style", "tsc of the edge", "bun run tsc --project edge-worker/tsconfig.json"),
  check("style", "tsc of the edge's tests", "bun run tsc --project edge-worker/test/tsconfig.json"),
  check("style", "tsc of page and client", "bun run tsc --project web/tsconfig.json"),
  check("style", "tsc of the browser's tests", "bun run tsc --project tests/browser/tsconfig.json"),
  check("style", "php -l", "php -l FILES", ["*.php"]),
  {
    ...check("style", "mago", "mago analyze"),
    pinned: {
      version: magoVersion,
      get: `cargo install mago --version ${magoVersion} --locked --root .tools (Rust, three minutes once)`,
    },
  },
  check("style", "prettier for PHP", "node node_modules/.bin/prettier --check FILES", ["*.php"]),
  {
    part: "style",
    name: "layers of TypeScript",
    counting: "exit-code",
    command: [
      ...["node", "node_modules/.bin/depcruise", "--config", "tools/check/layers/typescript.mjs"],
      ...["api/src", "edge-worker/src", "api/follow/src", "contract", "web/client/src", "web/page"],
      ...["tools/up", "tools/check"],
    ],
  },
  check("style", "layers of PHP", "php tools/check/layers/writer.php"),
  check("style", "composer.json", "composer validate --strict --no-interaction writer/composer.json"),
  check("style", "shellcheck", "shellcheck --external-sources FILES", [
    "bin/*",
    "tools/setup/*.sh",
    "tools/setup/bring",
    "tools/setup/test",
    "db/check-schema",
    "edge-worker/dev",
    "loadtest/endurance/workerd-with-clock",
    "writer/deploy/trendvault",
    "ops/container/every-minute",
    "ops/container/set-up",
    "ops/container/try",
    "ops/debian/*",
    "tools/release/package-debian",
    ".ci/run",
  ]),
  check("style", "markdownlint", "node node_modules/.bin/markdownlint-cli2"),
  check(
    "style",
    "redocly",
    "env REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true node node_modules/.bin/redocly lint --extends=recommended-strict contract/openapi.json",
  ),
  check("style", "knip", "node node_modules/.bin/knip"),
  check("style", "ruff check", "ruff check ."),
  check("style", "mypy", "mypy"),
  check("style", "ruff format", "ruff format --check ."),
];

export const parts: readonly string[] = [...new Set(suites.map((suite) => suite.part))];
