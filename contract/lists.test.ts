import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Random } from "@trendvault/kit/random";
import { TestTokenSigner } from "@trendvault/kit/signers";
import {
  answerSeconds,
  choiceOf,
  defaultWindow,
  describeHours,
  type ListChoice,
  listLengths,
  listName,
  sourceKinds,
  uncountedHours,
  viewsAcceptedSeconds,
  windowHours,
  windows,
} from "./lists.ts";
import { pageLanguages } from "./page.ts";
import { parseTrendingQuery, trendingUrl } from "./queries.ts";
import { claimsOf, tokenListName, verifyToken } from "./token.ts";

test("the name of a list says what selects it", () => {
  expect(listName({})).toBe("");
  expect(listName({ category: "Music" })).toBe("Music");
  expect(listName({ language: "de" })).toBe("#language:de");
  expect(listName({ audience: "kids" })).toBe("#language:audience=kids");
  for (const choice of [
    {},
    { category: "#Music" },
    { language: "de" },
    { duration: "long" },
    { live: "now" },
  ]) {
    expect(choiceOf(listName(choice))).toEqual(choice);
  }
});

test("the writer calls the lists by kind so, and no category", () => {
  expect(read("writer/src/Observations/ObservationParser.php")).toContain(
    `LANGUAGE_LISTS = '${listName({ language: "" })}';`,
  );
});

const random = new Random();

test(`two lists have two names, in tokens and in addresses (seed ${random.seed})`, async () => {
  const signer = await TestTokenSigner.create();
  const [names, tokens, targets] = [new Map(), new Map(), new Map()];
  for (let draw = 0; draw < 3000; draw++) {
    const choice = drawChoice();
    const key = JSON.stringify(choice);
    const target = trendingUrl({ region: "DE", window: "day", limit: 24, ...choice });
    const { query } = parseTrendingQuery(target.replace(/^[^?]*/, ""));
    if (query === null) continue;
    expect(query).toEqual({ region: "DE", window: "day", limit: 24, ...choice });
    const category = tokenListName(choice, sha256);
    const list = { region: "DE", window: "day", category, generation: 7, offset: 0, count: 24 } as const;
    const claims = claimsOf(list, 1);
    const token = await signer.sign(claims);
    expect(await verifyToken(token, signer.publicKeys, { now: 60 })).toEqual({ verdict: "valid", claims });
    for (const [seen, name] of [
      [names, listName(choice)],
      [tokens, token],
      [targets, target],
    ] as const) {
      expect([name, seen.get(name) ?? key]).toEqual([name, key]);
      seen.set(name, key);
    }
  }
  expect(names.size).toBeGreaterThan(100);
});

/** A category that is like the name of another list, or a kind. */
function drawChoice(): ListChoice {
  const language = random.pick(["de", "en", "gsw", "fil"]);
  const likeNames = [
    "",
    "#",
    "#language:",
    "#language",
    "#LANGUAGE:",
    `#language:${language}`,
    "#language:live=now",
  ];
  const kind = random.pick([
    { language },
    { audience: "kids" },
    { live: "now" },
    { duration: random.pick(["short", "long"]) },
  ]);
  const category = `${random.pick(likeNames)}${random.pick([language, "", "/", "é", "x".repeat(45)])}`;
  const hashed = `#${sha256(category).slice(0, 22)}`;
  return random.pick<ListChoice>([kind, {}, { category: category || "a" }, { category: hashed }]);
}

function sha256(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("base64url");
}

const { fresh, stale, browserFresh, browserStale } = answerSeconds;
const readingSeconds = 600; // which a reader has for a page before its `next` is followed

test.each([
  ["the next page of it may be asked for", fresh + stale + browserFresh + browserStale + readingSeconds],
  ["messages about its ranks are taken", viewsAcceptedSeconds],
])("the writer keeps a generation for as long as %s", (_reason, seconds) => {
  const [, kept] = /GENERATION_RETENTION_HOURS = (.+?);/.exec(read("writer/src/Cli/Settings.php")) ?? [];
  expect(3600 * Number(kept)).toBeGreaterThanOrEqual(seconds);
});

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
