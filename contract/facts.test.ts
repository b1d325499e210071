import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  defaultWindow,
  describeHours,
  listLengths,
  sourceKinds,
  uncountedHours,
  viewsAcceptedSeconds,
  windowHours,
  windows,
} from "./lists.ts";
import { pageLanguages } from "./page.ts";

// Facts of the contract that other languages, the database and documents write down once more.

const root = join(import.meta.dir, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

test("the writer's windows are the contract's, with their hours (writer/src/Ranking/Forecast.php)", () => {
  const [, text = ""] =
    /\nenum Window: string\n\{([\s\S]*?)\n\}/.exec(read("writer/src/Ranking/Forecast.php")) ?? [];
  const names = [...text.matchAll(/case (\w+) = '(\w+)';/g)].map(([, name = "", value = ""]) => [
    name,
    value,
  ]);
  const hours = new Map(
    [...text.matchAll(/self::(\w+) => ([\d.]+)/g)].map(([, name = "", value]) => [name, value]),
  );
  const written = names.map(([name = "", value = ""]) => [value, Number(hours.get(name))]);
  expect(Object.fromEntries(written)).toEqual(windowHours);
});

test("explanations assume the age that the writer's forecast assumes", () => {
  const [, hours] = /ASSUMED_AGE_HOURS = ([\d.]+);/.exec(read("writer/src/Ranking/Velocity.php")) ?? [];
  expect(read("api/src/resources/explanation.ts")).toContain(`assumedAgeHours = ${Number(hours)};`);
});

test("the writer's lists lose what was not counted after as many hours as the contract says", () => {
  expect(read("writer/src/Ranking/RankingPublisher.php")).toContain(
    `MAX_UNOBSERVED_HOURS = ${uncountedHours};`,
  );
});

test("the database takes the contract's windows (a migration: docs/changing.md)", () => {
  const [, check = ""] = /window TEXT NOT NULL CHECK \((.*?)\),\n/.exec(read("db/schema.sql")) ?? [];
  expect([...check.matchAll(/'(\w+)'/g)].map(([, name]) => name)).toEqual(windows);
});

/** Program text, without tests, examples, what is built, and the servers that the comparison checks against ours. */
const programs = [
  ...new Bun.Glob("{api,edge-worker,web,contract,writer,loadtest,tools}/**/*.{ts,js,php,py,go}").scanSync(
    root,
  ),
]
  .filter(
    (path) =>
      !/node_modules|\/(dist|vendor|tests?|test-support|fit|bench)\/|[._]test\.|examples\.ts|loadtest\/compare\//.test(
        path,
      ),
  )
  .map((path) => ({ path, lines: read(path).split("\n") }));

test("a line that lists windows by hand lists all of them", () => {
  const quoted = (name: string) => new RegExp(`['"]${name}['"]`);
  const isList = (line: string) => windows.filter((name) => quoted(name).test(line)).length > 1;
  const incomplete = programs.flatMap(({ path, lines }) =>
    lines
      .filter((line) => isList(line) && windows.some((name) => !quoted(name).test(line)))
      .map((line) => `${path}: ${line.trim()}`),
  );
  expect(incomplete).toEqual([]);
});

test("no program of ours names the default window but contract/lists.ts", () => {
  const byHand = /window\w*[^"'\n]{0,12}(===|!==|\?\?|=>|[:,=])\s*['"]day['"]/i;
  const named = programs.flatMap(({ path, lines }) =>
    /^contract\/(lists|openapi)\.ts/.test(path)
      ? []
      : lines.filter((line) => byHand.test(line)).map((line) => `${path}: ${line.trim()}`),
  );
  expect(named).toEqual([]);
});

test("the documents name the values and defaults of a list's parameters (docs/http-api.md)", () => {
  const hours = windows.map((window) => `\`${window}\` (${describeHours(windowHours[window])})`);
  const rows = read("docs/http-api.md").split("\n");
  expect(rows.find((row) => row.startsWith("| `window`"))).toBe(
    `| \`window\` | the time ahead: ${hours.join(", ")} | \`${defaultWindow}\` |`,
  );
  expect(rows.find((row) => row.startsWith("| `limit`"))).toBe(
    `| \`limit\` | 1 to ${listLengths.largestPage} | ${listLengths.defaultPage} |`,
  );
});

test("the documents say for how long a list's token is taken with a message (docs/http-api.md)", () => {
  expect(read("docs/http-api.md")).toContain(
    `for ${viewsAcceptedSeconds / 60} minutes after it was issued (\`viewsAcceptedSeconds\`)`,
  );
});

test("the client's README names the languages of the page", () => {
  expect(read("web/client/README.md")).toContain(`(${pageLanguages.join(", ")})`);
});

test("the writer's kinds of sources are those that /api/about names (writer/src/Commands/SourceKinds.php)", () => {
  const [, registry = ""] =
    /REGISTRY = \[\n([\s\S]*?)\n {4}\];/.exec(read("writer/src/Commands/SourceKinds.php")) ?? [];
  const kinds = [...registry.matchAll(/^ *'(\w+)/gm)].map(([, kind]) => (kind === "spool" ? "ndjson" : kind));
  expect(kinds.sort()).toEqual(Object.keys(sourceKinds).sort());
});

test("how far another clock may be ahead stands once in the writer (writer/src/Time/SystemClock.php)", () => {
  const others = programs.filter(
    ({ path, lines }) =>
      path.startsWith("writer/src/") &&
      !path.endsWith("/SystemClock.php") &&
      lines.some((line) => /(FUTURE|TOLERANCE|SKEW)_SECONDS = \d/.test(line)),
  );
  expect(others.map(({ path }) => path)).toEqual([]);
});
