/** How a suite tells what it ran: a JUnit report at REPORT, a closing line, or its exit code (one check). */
export type Counting = "junit" | "closing-line" | "exit-code";

export type Suite = {
  part: string;
  name: string;
  counting: Counting;
  /** argv; REPORT is replaced by the path of the JUnit report, FILES by the tracked files that `files` names, TIMEOUT_MS. */
  command: readonly string[];
  /** Patterns for `git ls-files`, for FILES. */
  files?: readonly string[];
  /** Has tests that need the S3 server that `tools/setup/bring versitygw` brings; where there is none, they are skipped and say why. */
  needsStore?: true;
  /** The same, for `tools/setup/bring prometheus`. */
  needsPrometheus?: true;
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

/** Slow suites first: with two jobs the quick ones fill the gaps. */
export const suites: readonly Suite[] = [
  nodeTest("edge", "tests in workerd", "edge-worker/test/*.workerd.ts"),
  {
    part: "writer",
    name: "tests",
    counting: "junit",
    needsStore: true,
    command: [
      "phpunit",
      "--configuration",
      "writer/phpunit.xml",
      "--display-skipped",
      "--log-junit",
      "REPORT",
    ],
  },
  nodeTest("browser", "tests in Chromium", "tests/browser/*.browser.ts"),
  bunTest("api", "api/src", "./api/test", "--coverage"),
  {
    part: "loadtest",
    name: "tests",
    counting: "junit",
    command: ["pytest", "loadtest/tests", "--junitxml=REPORT"],
  },
  {
    part: "bench",
    name: "tests",
    counting: "junit",
    command: ["pytest", "loadtest/compare", "--junitxml=REPORT"],
  },
  {
    part: "writer",
    name: "tests of the fit",
    counting: "junit",
    command: ["pytest", "writer/fit", "--junitxml=REPORT"],
  },
  bunTest("contract", "contract"),
  bunTest("edge", "edge-worker"),
  { ...bunTest("follow", "api/follow"), needsStore: true },
  bunTest("client", "web/client"),
  bunTest("page", "web/page"),
  bunTest("local", "tools/up"),
  { ...bunTest("store", "tests/store"), needsStore: true },
  bunTest("endurance", "loadtest/endurance"),
  { ...bunTest("ops", "tests/ops"), needsStore: true, needsPrometheus: true },
  bunTest("checks", "tools/check"),
  bunTest("release", "tools/release"),
  { part: "toolchain", name: "tests", counting: "closing-line", command: ["tools/setup/test"] },
  {
    part: "db",
    name: "schema.sql is the sum of the migrations",
    counting: "exit-code",
    command: ["db/check-schema"],
  },
  {
    part: "style",
    name: "biome",
    counting: "exit-code",
    command: ["bun", "run", "biome", "ci", "--error-on-warnings", "--colors=off"],
  },
  {
    part: "style",
    name: "tsc",
    counting: "exit-code",
    command: ["bun", "run", "tsc", "--project", "tsconfig.json"],
  },
  {
    part: "style",
    name: "tsc of the edge",
    counting: "exit-code",
    command: ["bun", "run", "tsc", "--project", "edge-worker/tsconfig.json"],
  },
  {
    part: "style",
    name: "tsc of the edge's tests",
    counting: "exit-code",
    command: ["bun", "run", "tsc", "--project", "edge-worker/test/tsconfig.json"],
  },
  {
    part: "style",
    name: "tsc of the client",
    counting: "exit-code",
    command: ["bun", "run", "tsc", "--project", "web/client/tsconfig.json"],
  },
  {
    part: "style",
    name: "tsc of the browser's tests",
    counting: "exit-code",
    command: ["bun", "run", "tsc", "--project", "tests/browser/tsconfig.json"],
  },
  {
    part: "style",
    name: "tsc of the page",
    counting: "exit-code",
    command: ["bun", "run", "tsc", "--project", "web/page/tsconfig.json"],
  },
  { part: "style", name: "php -l", counting: "exit-code", command: ["php", "-l", "FILES"], files: ["*.php"] },
  {
    part: "style",
    name: "prettier for PHP",
    counting: "exit-code",
    command: ["node", "node_modules/.bin/prettier", "--check", "FILES"],
    files: ["*.php"],
  },
  { part: "style", name: "layers", counting: "exit-code", command: ["bun", "tools/check/layers/main.ts"] },
  {
    part: "style",
    name: "composer.json",
    counting: "exit-code",
    command: ["composer", "validate", "--strict", "--no-interaction", "writer/composer.json"],
  },
  {
    part: "style",
    name: "shellcheck",
    counting: "exit-code",
    command: ["shellcheck", "--external-sources", "FILES"],
    files: [
      "bin/*",
      "tools/setup/*.sh",
      "tools/setup/bring",
      "tools/setup/test",
      "db/check-schema",
      "edge-worker/dev",
      "loadtest/endurance/workerd-with-clock",
      "writer/deploy/trendvault",
      "ops/container/every-minute",
      "ops/container/make-keys",
      "ops/container/try",
      ".ci/run",
    ],
  },
  {
    part: "style",
    name: "markdownlint",
    counting: "exit-code",
    command: ["node", "node_modules/.bin/markdownlint-cli2"],
  },
  {
    part: "style",
    name: "redocly",
    counting: "exit-code",
    command: [
      ...["env", "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true"],
      ...["node", "node_modules/.bin/redocly", "lint"],
      ...["--config=contract/redocly.yaml", "contract/openapi.json"],
    ],
  },
  {
    part: "style",
    name: "spectral",
    counting: "exit-code",
    command: [
      ...["node", "node_modules/.bin/spectral", "lint", "--ruleset=contract/spectral.yaml"],
      ...["--fail-severity=warn", "contract/openapi.json"],
    ],
  },
  { part: "style", name: "knip", counting: "exit-code", command: ["node", "node_modules/.bin/knip"] },
  { part: "style", name: "ruff check", counting: "exit-code", command: ["ruff", "check", "."] },
  { part: "style", name: "mypy", counting: "exit-code", command: ["mypy"] },
  { part: "style", name: "ruff format", counting: "exit-code", command: ["ruff", "format", "--check", "."] },
];

export const parts: readonly string[] = [...new Set(suites.map((suite) => suite.part))];
