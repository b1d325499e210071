import { afterAll, expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { newFolder } from "@trendvault/kit/machine";
import { suites } from "../suites.ts";

const made: string[] = [];
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true });
});

/** What a check says of a project with these files. */
function run(command: string[], files: Record<string, string>): string {
  const root = newFolder("layers");
  made.push(root);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(root, dirname(file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  Bun.spawnSync(["git", "init", "--quiet"], { cwd: root });
  const { stdout, stderr } = Bun.spawnSync(command, { cwd: root });
  return stdout.toString() + stderr.toString();
}

/** By file of a lower layer, an import that the check refuses and the target that it names. */
const upwards: Record<string, [line: string, target: string]> = {
  "api/src/http/a.ts": ['import { origin } from "../origin.ts";', "origin.ts"],
  "api/src/http/b.ts": ['import type { Origin } from "../origin.ts";', "origin.ts"],
  "api/src/http/e.ts": ['export type { Origin } from "../origin.ts";', "origin.ts"],
  "api/src/http/g.ts": ['let page: import("../origin.ts").Page;', "origin.ts"],
  "api/src/http/l.test.ts": ['import "../origin.ts";', "origin.ts"],
  "api/src/process/side.ts": ['import "../bundle/side.ts";', "bundle/side.ts"],
};

const typescript = run(
  ["node", ...depcruise("api/src")],
  Object.fromEntries([
    ["api/src/origin.ts", 'import type { Row } from "./http/row.ts";\nexport type Origin = Row;'],
    ["api/src/http/row.ts", 'import "../../../contract/key.ts";\nexport type Row = 1;'],
    ["api/src/bundle/side.ts", ""],
    ["contract/key.ts", ""],
    ["edge-worker/src/main.ts", ""],
    ["api/src/http/other.ts", 'import "../../../edge-worker/src/main.ts";'],
    ["api/src/http/lost.ts", 'import "./nothing.ts";'],
    ["api/src/http/round.ts", 'import type { A } from "./about.ts";\nexport type B = A;'],
    ["api/src/http/about.ts", 'import type { B } from "./round.ts";\nexport type A = B;'],
    ["api/src/http/test-support/load.ts", 'import "../../../../edge-worker/src/main.ts";'],
    ["api/src/http/tested.ts", 'import "./test-support/load.ts";'],
    ["api/src/http/right.test.ts", 'import "./test-support/load.ts";\nimport "bun:test";'],
    ["api/src/elsewhere/new.ts", ""],
    ...Object.entries(upwards).map(([file, [line]]) => [file, line]),
  ]),
);

function depcruise(folder: string): string[] {
  const program = join(import.meta.dir, "../../../node_modules/.bin/depcruise");
  return [program, "--config", join(import.meta.dir, "typescript.mjs"), folder];
}

test.each(Object.entries(upwards))("%s may not hold %p", (file, [, target]) => {
  expect(typescript).toMatch(`imports only what is below it: ${file} → api/src/${target}\n`);
});

test.each([
  [
    "another root that the table does not name",
    /outside of itself api\/src .*: api\/src\/http\/other\.ts → edge/,
  ],
  ["a file that is not there", /every import leads to a file or a package: api\/src\/http\/lost\.ts/],
  ["an import cycle of types", /no cycle, of types neither: api\/src\/http\/(round|about)\.ts/],
  ["a test", /only tests import tests: api\/src\/http\/tested\.ts/],
  ["a file without a layer", /every file of api\/src is in a layer: api\/src\/elsewhere\/new\.ts/],
])("%s is refused with its file", (_, sentence) => {
  expect(typescript).toMatch(sentence);
});

test("imports that go down are right, and a test may import helpers from outside", () => {
  expect(typescript).not.toMatch(
    /: api\/src\/(origin|http\/row|http\/right\.test|http\/test-support\/load)\.ts/,
  );
});

test("bin/test names every root of the layers", async () => {
  const roots = (await Bun.file(join(import.meta.dir, "typescript.mjs")).text()).matchAll(/root: "([^"]+)"/g);
  const command = suites.find(({ name }) => name === "layers of TypeScript")?.command;
  expect(command).toEqual(expect.arrayContaining([...roots].map(([, root]) => root)));
});

const php = (namespace: string, rest: string) =>
  `<?php\n\nnamespace TrendVault\\Writer\\${namespace};\n\n${rest}\n`;

/** What the check says of a small writer with this in its lowest layer. */
function checkWriter(clock: string, changed: Record<string, string> = {}): string {
  return run(["php", join(import.meta.dir, "writer.php")], {
    "writer/src/Commands/Rank.php": php("Commands", "use TrendVault\\Writer\\Time\\Clock;\nclass Rank {}"),
    "writer/src/Sources/Source.php": php("Sources", "interface Source {}"),
    "writer/src/Sources/YouTube/Chart.php": php(
      "Sources\\YouTube",
      "use TrendVault\\Writer\\Sources\\Source;\nclass Chart implements Source {}",
    ),
    "writer/src/Time/Clock.php": php("Time", clock),
    ...changed,
  });
}

test.each([
  ["use TrendVault\\Writer\\Sources\\YouTube\\Chart;"],
  ["use TrendVault\\Writer\\Sources\\YouTube\\Chart as Other;"],
  ["use TrendVault\\Writer\\Sources\\{Source, YouTube\\Chart};"],
  ["function f(): \\TrendVault\\Writer\\Sources\\YouTube\\Chart {}"],
  ["use TrendVault\\Writer\\Sources;\nnew Sources\\YouTube\\Chart();"],
  ["#[\\TrendVault\\Writer\\Sources\\YouTube\\Chart]\nclass A {}"],
])("%s in a lower layer names both files and the rule", (line) => {
  expect(checkWriter(line)).toContain(
    "Time/Clock.php imports Sources/YouTube/Chart.php: Time is below Sources/YouTube\n",
  );
});

test.each(["use TrendVault\\Writer\\Time\\Second;", "new \\TrendVault\\Writer\\Sources\\Third();"])(
  "%s names a class without a file and is refused",
  (line) => {
    const name = /TrendVault[\w\\]+/.exec(line)?.[0];
    expect(checkWriter(line)).toContain(`Time/Clock.php imports ${name}, which has no file\n`);
  },
);

test("the writer's files without an entry, entries without a file, neighbours and cycles are named", () => {
  const said = checkWriter("interface Clock {}", {
    "writer/src/Elsewhere/New.php": php("Elsewhere", "class New_ {}"),
    "writer/src/Sources/PeerTube/Poll.php": php(
      "Sources\\PeerTube",
      "new \\TrendVault\\Writer\\Sources\\YouTube\\Chart();",
    ),
    "writer/src/Commands/A.php": php("Commands", "class A extends B {}"),
    "writer/src/Commands/B.php": php("Commands", "class B extends A {}"),
    "writer/src/main.php": "<?php\n\nrequire 'vendor/autoload.php';\n",
  });
  expect(said.split("\n").filter((line) => !line.includes("there is no such file"))).toEqual([
    "Elsewhere/New.php is in no layer: give it an entry in tools/check/layers/writer.php",
    "Sources/PeerTube/Poll.php imports Sources/YouTube/Chart.php: Sources/PeerTube and Sources/YouTube are side by side and do not import each other",
    "an import cycle: Commands/A.php imports Commands/B.php imports Commands/A.php",
    expect.stringMatching(/^writer\/src: \d+ violations$/),
    "",
  ]);
  expect(said).toContain("Backup has an entry in tools/check/layers/writer.php, but there is no such file\n");
  expect(said).not.toContain("Commands has an entry");
});

test("syntax that prettier deletes is found with its line, calls of get and set are not", () => {
  const hooks = [
    "class A { public private(set) string $x = 'a'; }",
    "class A { public string $x { get => 1; } }",
    "class A { public string $x = 'a' { set(string $x) { $this->x = $x; } } }",
    "class A { public string $x { final &get { return $this->y; } } }",
    "interface A { public string $x { get; } }",
    "function get() { $this->get(); $x = set(1); return ['get' => 1]; }",
  ];
  const said = run(["php", join(import.meta.dir, "writer.php")], { "a.php": `<?php\n${hooks.join("\n")}\n` });
  expect([...said.matchAll(/^a\.php:(\d)/gm)].map(([, line]) => line)).toEqual(["2", "3", "4", "5", "6"]);
});
