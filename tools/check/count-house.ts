/**
 * Counts what this repository holds at a commit, for `bin/test --count` and `bun tools/check/count-house.ts [COMMIT]`:
 * HEAD unless another is named. A code line is neither blank nor only a comment.
 */

const generated =
  /(^|\/)(generated|published|released|corpus)\/|\.(json|lock|sum|svg|xml|pem|har)$|(^|\/)(requirements|npm-hashes)\.txt$|^db\/schema\.sql$|worker-configuration\.d\.ts$/;
const settings = /(^|\/)(package|tsconfig[\w.]*|biome|knip|composer)\.json$/;
const kits =
  /^tests\/kit\/|(^|\/)(test-support|test_support|support|testing)\/|(^|\/)(sandbox|fake-[\w-]+|fakes)\.sh$|conftest\.py$/i;
const tests =
  /\.(test|browser|workerd)\.\w+$|(^|\/)(tests?|Tests?)(\/|$)|(^|\/)test_\w+\.py$|^(browser|store|ops\/tests)\//;
/** What is not installed at a site that runs TrendVault: for whoever works on it. */
const forOurselves =
  /^(tools|bin|loadtest|bench|endurance|checks|local|toolchain|release|\.ci)\/|^(ops\/grafana|writer\/(fit|bench)|writer\/src\/(Simulation|Backtest)|edge-worker\/(bench|dev-store))\/|^(db\/check-schema|edge-worker\/dev)$/;
const rootOfRoom = /^(?:(web|tools|tests)\/[^/]+|[^/]+(?=\/))/;

const comments: Record<string, RegExp> = {
  ts: /^(\/\/|\/\*|\*( |\/|$))/,
  php: /^(\/\/|\/\*|\*( |\/|$)|#(?!\[))/,
  css: /^(\/\*|\*( |\/|$))/,
  sql: /^--/,
  lua: /^--/,
  go: /^\/\//,
  c: /^(\/\/|\/\*|\*( |\/|$))/,
  other: /^#(?!!)/,
};
const namesIn: Record<string, RegExp> = {
  ts: /^export (?:default |declare |abstract |async )*(?:function\*?|class|const|let|type|interface|enum) (\w+)/gm,
  php: /^(?:abstract |final |readonly )*(?:class|interface|trait|enum) (\w+)/gm,
};

type Kind = "program" | "ours" | "kits" | "tests" | "generated" | "documents" | "settings";
type CountedFile = { path: string; kind: Kind; lines: number; code: number; names: number; words: number };

if (import.meta.main) countHouse(Bun.argv[2] ?? "HEAD");

export function countHouse(commit: string): void {
  const paths = git(["ls-tree", "-r", "-z", "--name-only", commit]).toString().split("\0").filter(Boolean);
  const files = readAll(commit, paths).map((text, at) => measure(paths[at] ?? "", text));
  const of = (...kinds: Kind[]) => files.filter(({ kind }) => kinds.includes(kind));
  const code = of("program", "ours");

  row("tracked files", files.length);
  row(
    "top-level folders",
    new Set(paths.filter((path) => /^[^.][^/]*\//.test(path)).map((path) => path.split("/")[0])).size,
  );
  row("program", summary(of("program")));
  row("tools for ourselves", summary(of("ours")));
  row("tests", summary(of("tests")));
  row("kits of tests", summary(of("kits")));
  row("committed data and generated text", `${sum(of("generated"), "lines")} lines`);
  row("documents", `${of("documents").length} files, ${sum(of("documents"), "words")} words`);
  row("code lines a file of program and tools", Math.round(sum(code, "code") / code.length));
  row("files of at most 20 code lines", code.filter(({ code }) => code <= 20).length);
  row("exported names", sum(code, "names"));
  for (const [room, members] of Map.groupBy(code, ({ path }) => rootOfRoom.exec(path)?.[0] ?? "."))
    if (sum(members, "names") > 0) row(`  ${room}`, sum(members, "names"));
  for (const { path, code } of files.filter(({ kind, code }) => kind !== "generated" && code > 800))
    row(`more than 800 code lines: ${path}`, code);
}

function measure(path: string, text: string): CountedFile {
  const kind = kindOf(path);
  const language = /\.(\w+)$/.exec(path)?.[1] ?? "";
  const comment = comments[language.replace(/^[cm]?[jt]sx?$/, "ts")] ?? (comments.other as RegExp);
  const lines = text.split("\n").map((line) => line.trim());
  return {
    path,
    kind,
    lines: lines.length - 1,
    code: lines.filter((line) => line !== "" && !comment.test(line)).length,
    names: [...text.matchAll(namesIn[language] ?? /$^/g)].length,
    words: text.split(/\s+/).filter(Boolean).length,
  };
}

function kindOf(path: string): Kind {
  if (generated.test(path) && !settings.test(path)) return "generated";
  if (/\.md$|(^|\/)(LICENSE|usage\.txt|[\w-]+-usage\.txt)$/.test(path))
    return /(^|\/)(CHANGELOG\.md|LICENSE|usage\.txt|[\w-]+-usage\.txt)$/.test(path)
      ? "settings"
      : "documents";
  if (kits.test(path)) return "kits";
  if (tests.test(path)) return "tests";
  if (settings.test(path) || !/\.(tsx?|m?js|php|py|sh|sql|css|html|lua|go|c)$|(^|\/)[\w-]+$/.test(path))
    return "settings";
  return forOurselves.test(path) ? "ours" : "program";
}

/** The texts of files of the commit: Git prints a line with each one's length, the bytes and a line end. */
function readAll(commit: string, wanted: readonly string[]): string[] {
  const printed = git(["cat-file", "--batch"], wanted.map((path) => `${commit}:${path}\n`).join(""));
  let at = 0;
  return wanted.map(() => {
    const start = printed.indexOf("\n", at) + 1;
    const length = Number(printed.toString("utf8", at, start).split(" ")[2]);
    at = start + length + 1;
    return printed.toString("utf8", start, start + length);
  });
}

function git(words: string[], input = ""): Buffer {
  const { stdout, stderr, exitCode } = Bun.spawnSync(["git", ...words], { stdin: Buffer.from(input) });
  if (exitCode !== 0) throw new Error(stderr.toString());
  return stdout;
}

function summary(members: readonly CountedFile[]): string {
  return `${members.length} files, ${sum(members, "code")} code lines`;
}

function sum(members: readonly CountedFile[], field: "lines" | "code" | "names" | "words"): number {
  return members.reduce((total, file) => total + file[field], 0);
}

function row(name: string, value: number | string): void {
  console.log(`${name}: ${value}`);
}
