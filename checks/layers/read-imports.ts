import { join } from "node:path";
import type { FileImports, Imports } from "./file-imports.ts";
import { readTypeScript } from "./read-typescript.ts";

const writerNamespace = "TrendVault\\Writer\\";

/** Reads the imports of these files: of TypeScript also type-only ones, of PHP every class that is named. */
export function readImports(files: readonly string[], root: string): Imports {
  const php = files.filter((file) => file.endsWith(".php"));
  const others = files.filter((file) => !file.endsWith(".php"));
  return new Map([
    ...others.map((file) => [file, readTypeScript(file, root)] as const),
    ...readPhp(php, root),
  ]);
}

/** PHP's own tokenizer reads the names; those that PSR-4 leads to a file of the writer are imports. */
function readPhp(files: readonly string[], root: string): [string, FileImports][] {
  const known = new Map(files.map((file) => [file.toLowerCase(), file])); // PHP's names are in any case
  const find = (name: string) => known.get(phpFile(name).toLowerCase());
  const isFolder = (name: string) =>
    files.some((file) => file.startsWith(phpFile(name).replace(".php", "/")));
  return readPhpNames(files, root).map(({ file, names, explicit, unreadable }) => {
    const imported = names.map(find).filter((path) => path !== undefined && path !== file);
    const lost = explicit.filter((name) => isWriters(name) && find(name) === undefined && !isFolder(name));
    return [
      file,
      {
        imported: imported as string[],
        unreadable: [...unreadable, ...lost.map((name) => `${name}, which has no file`)],
      },
    ];
  });
}

function isWriters(name: string): boolean {
  return name.toLowerCase().startsWith(writerNamespace.toLowerCase());
}

function phpFile(name: string): string {
  return isWriters(name)
    ? `writer/src/${name.slice(writerNamespace.length).replaceAll("\\", "/")}.php`
    : name;
}

/**
 * What php-names.php prints of one file. `explicit`: those of the names that are certainly classes or namespaces;
 * `unformattable`: lines with syntax that prettier's plugin deletes.
 */
export type PhpNames = {
  file: string;
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
