import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseSync, Visitor } from "oxc-parser";
import type { FileImports } from "./file-imports.ts";

const sourceFile = /\.[cm]?[jt]sx?$/;
/** Also `node:fs` and the like; no address, no alias such as `~/` or `#`, and not what makes a `require`. */
const packageName = /^(?!(file|data|blob|https?):|(node:)?module$)(@[\w.-]+\/)?\w/;

/** A string in the code. `must`: it is the specifier of an import, so it has to lead somewhere. */
type Specifier = { text: string; must: boolean };

/** What a TypeScript file imports; `file` is its path from `root`. */
export function readTypeScript(file: string, root: string): FileImports {
  const { program, comments, errors } = parseSync(file, readFileSync(join(root, file), "utf8"));
  if (errors[0] !== undefined) throw new Error(`${file} cannot be parsed: ${errors[0].message}`);
  const { specifiers, unreadable } = collectSpecifiers(program);
  const references = comments.filter(({ value }) => /^\/\s*<reference\s+path/.test(value));
  const imported = new Set<string>();
  for (const { text, must } of specifiers) {
    const target = resolveSpecifier(text, dirname(file), root);
    if (target !== null && sourceFile.test(target)) imported.add(target);
    if (target === null && must) unreadable.push(`"${text}", which leads to no file`);
  }
  unreadable.push(...references.map(() => "a file by /// <reference path>: import it instead"));
  return { imported: [...imported], unreadable };
}

/**
 * Every string that may name a file: the specifiers of all kinds of imports, and other strings as well, since
 * `new URL`, `new Worker`, `import.meta.resolve` and mocks take them. `unreadable`: imports that name no string.
 */
function collectSpecifiers(program: Parameters<Visitor["visit"]>[0]) {
  const [specifiers, unreadable]: [Specifier[], string[]] = [[], []];
  const calledRequires = new Set<unknown>();
  const take = (node: Node | null | undefined, call: string) => {
    const text = literalText(node);
    if (text === null) unreadable.push(`${call} of what is no literal`);
    else specifiers.push({ text, must: true });
  };
  const takeSource = ({ source }: { source?: Node | null }) => {
    if (source) take(source, "import");
  };
  new Visitor({
    ImportDeclaration: takeSource,
    ExportNamedDeclaration: takeSource,
    ExportAllDeclaration: takeSource,
    TSImportType: takeSource,
    ImportExpression: ({ source }) => take(source, "import()"),
    TSExternalModuleReference: ({ expression }) => take(expression, "import = require()"),
    CallExpression: ({ callee, arguments: [argument] }) => {
      if (!isRequire(callee)) return;
      calledRequires.add(callee);
      take(argument, "require()");
    },
    Identifier: (node) => {
      if (isRequire(node) && !calledRequires.has(node)) unreadable.push("require other than as require(…)");
    },
    Literal: (node) => specifiers.push({ text: literalText(node) ?? "", must: false }),
    TemplateLiteral: (node) => specifiers.push({ text: literalText(node) ?? "", must: false }),
  }).visit(program);
  return { specifiers, unreadable };
}

type Node = {
  type: string;
  name?: unknown;
  value?: unknown;
  quasis?: { value: { cooked: string | null } }[];
};

function isRequire({ type, name }: Node): boolean {
  return type === "Identifier" && (name === "require" || name === "createRequire");
}

/** The text of a string or of a template without expressions, null for anything else. */
function literalText(node: Node | null | undefined): string | null {
  if (node?.type === "Literal" && typeof node.value === "string") return node.value;
  return node?.type === "TemplateLiteral" && node.quasis?.length === 1
    ? (node.quasis[0]?.value.cooked ?? null)
    : null;
}

/**
 * The path from `root` of the file that a specifier in `folder` leads to, "" for a package of others or of the
 * runtime, null when there is no such file. `@trendvault/NAME` is the folder NAME or web/NAME.
 */
function resolveSpecifier(specifier: string, folder: string, root: string): string | null {
  const ours = /^@trendvault\/(.+)$/.exec(specifier)?.[1];
  if (ours === undefined && packageName.test(specifier)) return "";
  const path = ours ?? (specifier.startsWith(".") ? join(folder, specifier) : null);
  if (path === null) return null;
  const candidates = [path, ...[".ts", ".tsx", ".js", "/index.ts"].map((ending) => path + ending)];
  if (ours !== undefined) candidates.push(`web/${ours}.ts`);
  candidates.push(path.replace(/\.([cm]?)js(x?)$/, ".$1ts$2"));
  return candidates.find((candidate) => isFile(join(root, candidate))) ?? null;
}

function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile();
}
