import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { findViolations } from "./find-violations.ts";
import { readImports, readPhpNames } from "./read-imports.ts";
import type { SourceRoot } from "./table.ts";

const origin: SourceRoot = {
  root: "api/src",
  layers: [["main.ts"], ["http"], ["database", "signing"]],
  mayImport: ["contract"],
};
const writer: SourceRoot = {
  root: "writer/src",
  layers: [["Commands"], ["Sources/YouTube"], ["Sources"], ["Time"]],
  mayImport: [],
};

const made: string[] = [];
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true });
});

/** The right files of the root, with these in addition or in their place. */
function check(sourceRoot: SourceRoot, changed: Record<string, string>): string[] {
  const files = { ...(sourceRoot === origin ? originFiles : writerFiles), ...changed };
  const root = writeFiles(files);
  return findViolations(sourceRoot, readImports(Object.keys(files), root));
}

function writeFiles(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), "trendvault-layers-"));
  made.push(root);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(root, dirname(file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  return root;
}

const originFiles = {
  "api/src/main.ts": 'import { serve } from "./http/server.ts";\nserve();',
  "api/src/http/server.ts":
    'import type { Row } from "../database/row.ts";\nexport type Page = Row;\nexport function serve() {}',
  "api/src/database/row.ts": 'import { key } from "@trendvault/contract/key";\nexport type Row = typeof key;',
  "api/src/signing/signer.ts": "export const signer = 1;",
  "contract/key.ts": "export const key = 1;",
  "api/test-support/load.ts": "",
  "edge-worker/src/main.ts": "",
};

const php = (namespace: string, rest: string) =>
  `<?php\n\nnamespace TrendVault\\Writer\\${namespace};\n\n${rest}\n`;

const writerFiles = {
  "writer/src/Commands/Rank.php": php("Commands", "use TrendVault\\Writer\\Time\\Clock;\nclass Rank {}"),
  "writer/src/Sources/Source.php": php(
    "Sources",
    "use TrendVault\\Writer\\Time\\Clock;\ninterface Source {}",
  ),
  "writer/src/Sources/YouTube/Chart.php": php(
    "Sources\\YouTube",
    "use TrendVault\\Writer\\Sources\\Source;\nclass Chart implements Source {}",
  ),
  "writer/src/Time/Clock.php": php("Time", "interface Clock {}"),
};

test("imports that go down are right", () => {
  expect(check(origin, {})).toEqual([]);
  expect(check(writer, {})).toEqual([]);
});

test.each([
  ['import { serve } from "../http/server.ts";'],
  ['import type { Page } from "../http/server.ts";'],
  ['import "../http/server.ts";'],
  ['export * from "../http/server.ts";'],
  ['export type { Page } from "../http/server.ts";'],
  ['const server = await import("../http/server.ts");'],
  ['let page: import("../http/server.ts").Page;'],
  ['const server = require("../http/server.ts");'],
  ['import server = require("../http/server.ts");'],
  ["await import(`../http/server.ts`);"],
  ['import "../http/server";'],
  ['import "../http/server.js";'],
  ['import "@trendvault/api/src/http/server.ts";'],
  ['import "../../../contract/../api/src/http/server.ts";'],
  ['new Worker(new URL("../http/server.ts", import.meta.url));'],
  ['import.meta.resolve("../http/server.ts");'],
])("%s in a lower layer names both files and the rule", (line) => {
  expect(check(origin, { "api/src/database/list.ts": line })).toContain(
    "api/src/database/list.ts imports api/src/http/server.ts: database is below http",
  );
});

test.each([
  ['await import("../http/" + name);', "import() of what is no literal"],
  ["await import(`../http/\u0024{name}.ts`);", "import() of what is no literal"],
  ["require(name);", "require() of what is no literal"],
  ['const load = require; load("../http/server.ts");', "require other than as require(…)"],
  ['module.require("../http/server.ts");', "require other than as require(…)"],
  ['import { createRequire } from "node:module";', "require other than as require(…)"],
  ['import "../http/server.ts?again";', '"../http/server.ts?again", which leads to no file'],
  ['import "/srv/api/src/http/server.ts";', '"/srv/api/src/http/server.ts", which leads to no file'],
  ['import "~/http/server.ts";', '"~/http/server.ts", which leads to no file'],
  ['import module from "node:module";', '"node:module", which leads to no file'],
  ['import "#http/server.ts";', '"#http/server.ts", which leads to no file'],
  ['/// <reference path="../http/server.ts" />', "a file by /// <reference path>: import it instead"],
])("%s cannot be followed and is refused", (line, what) => {
  expect(check(origin, { "api/src/database/list.ts": line })).toContain(
    `api/src/database/list.ts imports ${what}`,
  );
});

test.each([
  ["use TrendVault\\Writer\\Sources\\YouTube\\Chart;"],
  ["use TrendVault\\Writer\\Sources\\YouTube\\Chart as Other;"],
  ["use TrendVault\\Writer\\Sources\\{Source, YouTube\\Chart};"],
  ["use TrendVault\\Writer\\{Sources\\YouTube\\Chart, Sources\\Source};"],
  ["function f(): \\TrendVault\\Writer\\Sources\\YouTube\\Chart {}"],
  ["use TrendVault\\Writer\\Sources;\nnew Sources\\YouTube\\Chart();"],
  ["use TrendVault\\Writer\\Sources\\YouTube as Tube;\nnew Tube\\Chart();"],
  ["use TrendVault\\Writer\\Sources\\YouTube as Tube;\nnew tube\\CHART();"],
  ["use TrendVault\\Writer as W;\n$name = W\\Sources\\YouTube\\Chart::class;"],
  ["$f = function () use ($x) { return new \\TrendVault\\Writer\\Sources\\YouTube\\Chart(); };"],
  ["switch ($x) { case \\TrendVault\\Writer\\Sources\\YouTube\\Chart::LIMIT: }"],
  ["class A { const \\TrendVault\\Writer\\Sources\\YouTube\\Chart CHART = null; }"],
  ["#[\\TrendVault\\Writer\\Sources\\YouTube\\Chart]\nclass A {}"],
  ["class_exists('\\TrendVault\\Writer\\Sources\\YouTube\\Chart');"],
  ['class_alias("TrendVault\\\\Writer\\\\Sources\\\\YouTube\\\\Chart", "Chart");'],
])("%s in a lower layer names both files and the rule", (line) => {
  expect(check(writer, { "writer/src/Time/SystemClock.php": php("Time", line) })).toContain(
    "writer/src/Time/SystemClock.php imports writer/src/Sources/YouTube/Chart.php: Time is below Sources/YouTube",
  );
});

test("a class that stands beside another in a file leads to that file", () => {
  const changed = {
    "writer/src/Sources/YouTube/Chart.php": php(
      "Sources\\YouTube",
      "final class Chart {}\nenum Kind: string { case A = Other::class; }",
    ),
    "writer/src/Time/SystemClock.php": php("Time", "use TrendVault\\Writer\\Sources\\YouTube\\Kind;"),
  };
  expect(check(writer, changed)).toEqual([
    "writer/src/Time/SystemClock.php imports writer/src/Sources/YouTube/Chart.php: Time is below Sources/YouTube",
  ]);
});

test.each([
  ["require __DIR__ . '/../Sources/YouTube/Chart.php';", "by require: name a class instead"],
  ["include_once 'Chart.php';", "by include_once: name a class instead"],
  ["eval($code);", "by eval: name a class instead"],
  ["new (__NAMESPACE__ . $name)();", "by __NAMESPACE__: name a class instead"],
  [
    "$name = 'TrendVault\\Writer\\Sources\\YouTube\\\\' . $kind;",
    "by a part of a class's name: name the class",
  ],
  ["namespace TrendVault\\Writer\\Time { }", "in a namespace with braces: write `namespace X;`"],
  [
    "use TrendVault\\Writer\\Sources\\YouTube\\Second;",
    "TrendVault\\Writer\\Sources\\YouTube\\Second, which has no file",
  ],
  ["new \\TrendVault\\Writer\\Sources\\Third();", "TrendVault\\Writer\\Sources\\Third, which has no file"],
])("%s cannot be followed and is refused, except in the files that load others", (line, what) => {
  const changed = { "writer/src/Time/SystemClock.php": php("Time", line) };
  expect(check(writer, changed)).toContain(`writer/src/Time/SystemClock.php imports ${what}`);
  expect(check({ ...writer, mayLoad: ["Time/SystemClock.php"] }, changed)).toEqual([]);
});

test("only tests import tests", () => {
  const changed = {
    "api/src/database/list.ts": 'import "./test-support/load.ts";',
    "api/src/database/test-support/load.ts": 'import "../../../../edge-worker/src/main.ts";',
  };
  expect(check(origin, changed)).toEqual([
    "api/src/database/list.ts imports api/src/database/test-support/load.ts: only tests import tests",
  ]);
});

test("a root that is not in the table is refused with the roots there are", () => {
  const { exitCode, stderr } = Bun.spawnSync(["bun", join(import.meta.dir, "main.ts"), "api/srcc"]);
  expect(stderr.toString()).toStartWith('There is no root "api/srcc": the roots are api/src, ');
  expect(exitCode).toBe(2);
});

test("a test is held to the layers as well, but may import helpers from outside", () => {
  const text = 'import "../http/server.ts";\nimport "../../test-support/load.ts";';
  expect(check(origin, { "api/src/database/row.test.ts": text })).toEqual([
    "api/src/database/row.test.ts imports api/src/http/server.ts: database is below http",
  ]);
});

test("entries of one layer do not import each other", () => {
  const violations = check(origin, { "api/src/database/a.ts": 'import "../signing/signer.ts";' });
  expect(violations).toEqual([
    "api/src/database/a.ts imports api/src/signing/signer.ts: database and signing are side by side and do not import each other",
  ]);
});

test("another root is imported only where the table says so", () => {
  const text = 'import "../../../edge-worker/src/main.ts";\nimport "../../../contract/key.ts";';
  expect(check(origin, { "api/src/http/a.ts": text })).toEqual([
    "api/src/http/a.ts imports edge-worker/src/main.ts: outside of itself api/src may import contract",
  ]);
});

test("an import cycle of TypeScript files is named with all its files, type-only imports included", () => {
  const cycle = {
    "api/src/http/a.ts": 'import { b } from "./b.ts";',
    "api/src/http/b.ts": 'import type { C } from "./c.ts";',
    "api/src/http/c.ts": 'import { a } from "./a.ts";',
  };
  expect(check(origin, cycle)).toEqual([
    "an import cycle: api/src/http/a.ts imports api/src/http/b.ts imports api/src/http/c.ts imports api/src/http/a.ts",
  ]);
});

test("an import cycle of PHP files is named, also within a namespace, where nothing needs `use`", () => {
  const cycle = {
    "writer/src/Time/A.php": php("Time", "class A { public function b(): B { return new B(); } }"),
    "writer/src/Time/B.php": php("Time", "class B { public function __construct(private ?A $a) {} }"),
  };
  expect(check(writer, cycle)).toEqual([
    "an import cycle: writer/src/Time/A.php imports writer/src/Time/B.php imports writer/src/Time/A.php",
  ]);
});

test("what comments and strings say, and members of that name, are no imports", () => {
  const text = php(
    "Time",
    '/** {@see B} */ class A { const string B = "B"; function f() { return $this->B(self::B); } }',
  );
  const violations = check(writer, {
    "writer/src/Time/A.php": text,
    "writer/src/Time/B.php": php("Time", "class B extends A {}"),
  });
  expect(violations).toEqual([]);
});

test("a folder without an entry is a violation, and so is an entry without a file", () => {
  expect(check(origin, { "api/src/utils/a.ts": "", "api/src/utils/b.ts": "" })).toEqual([
    "api/src/utils is in no layer: give it an entry in tools/check/layers/table.ts",
  ]);
  expect(check({ ...origin, layers: [...origin.layers, ["logging"]] }, {})).toHaveLength(5);
});

test.each([
  "class A { public private(set) string $x = 'a'; }",
  "class A { public string $x { get => 1; } }",
  "class A { public string $x = 'a' { set(string $x) { $this->x = $x; } } }",
  "class A { public string $x { final &get { return $this->y; } } }",
  "interface A { public string $x { get; } }",
])("syntax that prettier deletes is found with its line: %s", (code) => {
  const root = writeFiles({ "a.php": `<?php\n${code}\n` });
  expect(readPhpNames(["a.php"], root)[0]?.unformattable).toEqual([2]);
});

test("calls of functions and methods named get and set are no hooks", () => {
  const root = writeFiles({
    "a.php": "<?php\nfunction get() { $this->get(); $x = set(1); return ['get' => 1]; }\n",
  });
  expect(readPhpNames(["a.php"], root)[0]?.unformattable).toEqual([]);
});
