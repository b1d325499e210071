import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync, Visitor } from "oxc-parser";

/** Which files a file imports, both as paths from the project's root. */
export type Imports = ReadonlyMap<string, readonly string[]>;

const contractPackage = "@trendvault/contract/";
const writerNamespace = "TrendVault\\Writer\\";

/** Reads the imports of these files: of TypeScript also type-only ones, of PHP every class that is named. */
export function readImports(files: readonly string[], root: string): Imports {
  const typescript = files.filter((file) => file.endsWith(".ts"));
  const php = files.filter((file) => file.endsWith(".php"));
  return new Map([
    ...typescript.map((file) => [file, readTypeScript(file, root)] as const),
    ...readPhp(php, root),
  ]);
}

function readTypeScript(file: string, root: string): string[] {
  const { program, errors } = parseSync(file, readFileSync(join(root, file), "utf8"));
  if (errors[0] !== undefined) throw new Error(`${file} cannot be parsed: ${errors[0].message}`);
  const specifiers: string[] = [];
  const collect = ({ source }: { source?: { type: string; value?: unknown } | null }) => {
    if (source?.type === "Literal") specifiers.push(String(source.value));
  };
  new Visitor({
    ImportDeclaration: collect,
    ExportNamedDeclaration: collect,
    ExportAllDeclaration: collect,
    ImportExpression: collect,
    TSImportType: collect,
  }).visit(program);
  return specifiers.flatMap((specifier) => resolveSpecifier(specifier, file));
}

/** Nothing for packages, for what comes with the runtime, and for data files. */
function resolveSpecifier(specifier: string, importer: string): string[] {
  if (specifier.startsWith(contractPackage) && !specifier.endsWith(".json"))
    return [`contract/${specifier.slice(contractPackage.length)}.ts`];
  const isSource = specifier.startsWith(".") && specifier.endsWith(".ts");
  return isSource ? [join(importer, "..", specifier)] : [];
}

/** PHP's own tokenizer reads the names; those that PSR-4 leads to a file of the writer are imports. */
function readPhp(files: readonly string[], root: string): [string, string[]][] {
  const known = new Set(files);
  return readPhpNames(files, root).map(({ file, names }) => [
    file,
    names.map(phpFile).filter((path) => path !== file && known.has(path)),
  ]);
}

function phpFile(name: string): string {
  return name.startsWith(writerNamespace)
    ? `writer/src/${name.slice(writerNamespace.length).replaceAll("\\", "/")}.php`
    : name;
}

/** What php-names.php prints of one file. `unformattable`: lines with syntax that prettier's plugin deletes. */
export type PhpNames = { file: string; names: string[]; unformattable: number[] };

export function readPhpNames(files: readonly string[], root: string): PhpNames[] {
  if (files.length === 0) return [];
  const command = ["php", join(import.meta.dir, "php-names.php"), ...files];
  const { stdout, stderr, exitCode } = Bun.spawnSync(command, { cwd: root });
  if (exitCode !== 0) throw new Error(`The names in PHP files cannot be read: ${stderr}${stdout}`);
  return stdout
    .toString()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as PhpNames);
}
