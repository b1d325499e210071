import { join } from "node:path";
import type { FileImports, Imports } from "./file-imports.ts";
import { readTypeScript } from "./read-typescript.ts";

const writerNamespace = "trendvault\\writer\\";

/** Reads the imports of these files: of TypeScript also type-only ones, of PHP every class that is named. */
export function readImports(files: readonly string[], root: string): Imports {
  const php = files.filter((file) => file.endsWith(".php"));
  const others = files.filter((file) => !file.endsWith(".php"));
  return new Map([
    ...others.map((file) => [file, readTypeScript(file, root)] as const),
    ...readPhp(php, root),
  ]);
}

/** PHP's own tokenizer reads the names; those that a file of the writer declares are imports. */
function readPhp(files: readonly string[], root: string): [string, FileImports][] {
  const read = readPhpNames(files, root);
  const declaring = new Map(
    read.flatMap(({ file, declares }) => declares.map((name) => [name.toLowerCase(), file] as const)),
  ); // PHP's names are in any case
  const find = (name: string) => declaring.get(name.toLowerCase());
  const isNamespace = (name: string) =>
    [...declaring.keys()].some((declared) => declared.startsWith(`${name.toLowerCase()}\\`));
  return read.map(({ file, names, explicit, unreadable }) => {
    const imported = names.map(find).filter((path) => path !== undefined && path !== file);
    const lost = explicit.filter((name) => isWriters(name) && find(name) === undefined && !isNamespace(name));
    return [
      file,
      {
        imported: [...new Set(imported as string[])],
        unreadable: [...unreadable, ...lost.map((name) => `${name}, which has no file`)],
      },
    ];
  });
}

function isWriters(name: string): boolean {
  return name.toLowerCase().startsWith(writerNamespace);
}

/**
 * What php-names.php prints of one file, classes with their namespaces. `explicit`: those of the names that are certainly classes or namespaces;
 * `unformattable`: lines with syntax that prettier's plugin deletes.
 */
export type PhpNames = {
  file: string;
  declares: string[];
  names: string[];
  explicit: string[];
  unreadable: string[];
  unformattable: number[];
};

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
