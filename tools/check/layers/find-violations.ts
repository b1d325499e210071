import { findCycles } from "./cycles.ts";
import type { Imports } from "./file-imports.ts";
import type { SourceRoot } from "./table.ts";

/** Compares the imports of one root with its layers. Returns a sentence for each violation. */
export function findViolations(sourceRoot: SourceRoot, imports: Imports): string[] {
  const inRoot = [...imports].filter(([file]) => isIn(file, sourceRoot.root));
  const files = inRoot.map(([file]) => file);
  const wrong = inRoot.flatMap(([file, { imported, unreadable }]) => [
    ...imported.flatMap((target) => describeImport(sourceRoot, file, target)),
    ...describeUnreadable(sourceRoot, file, unreadable),
  ]);
  const graph = new Map(inRoot.map(([file, { imported }]) => [file, imported]));
  const cycles = findCycles(graph).map((cycle) => `an import cycle: ${cycle.join(" imports ")}`);
  return [...describeTable(sourceRoot, files), ...wrong, ...cycles];
}

/** Files and folders without an entry, and entries without a file. */
function describeTable(sourceRoot: SourceRoot, files: readonly string[]): string[] {
  const { root } = sourceRoot;
  const outside = files.filter((file) => findEntry(sourceRoot, file) === null && !isTest(file));
  const missing = new Set(outside.map((file) => `${root}/${file.slice(root.length + 1).split("/")[0]}`));
  const used = new Set(files.map((file) => findEntry(sourceRoot, file)?.name));
  const empty = sourceRoot.layers.flat().filter((name) => !used.has(name));
  return [
    ...[...missing].map((path) => `${path} is in no layer: give it an entry in tools/check/layers/table.ts`),
    ...empty.map(
      (name) => `${root}/${name} has an entry in tools/check/layers/table.ts, but there is no such file`,
    ),
  ];
}

/** Tests may import helpers that are outside of the roots; what they import of their own root must be below. */
function describeImport(sourceRoot: SourceRoot, file: string, target: string): string[] {
  const [from, to] = [findEntry(sourceRoot, file), findEntry(sourceRoot, target)];
  if (isTest(target) && !isTest(file)) return [`${file} imports ${target}: only tests import tests`];
  if (!isIn(target, sourceRoot.root)) {
    const allowed = isTest(file) || sourceRoot.mayImport.some((root) => isIn(target, root));
    const others = sourceRoot.mayImport.join(", ") || "nothing";
    return allowed
      ? []
      : [`${file} imports ${target}: outside of itself ${sourceRoot.root} may import ${others}`];
  }
  if (from === null || to === null || from.name === to.name || from.layer < to.layer) return [];
  const rule =
    from.layer === to.layer
      ? `${from.name} and ${to.name} are side by side and do not import each other`
      : `${from.name} is below ${to.name}`;
  return [`${file} imports ${target}: ${rule}`];
}

function describeUnreadable(
  { root, mayLoad }: SourceRoot,
  file: string,
  unreadable: readonly string[],
): string[] {
  if (mayLoad?.includes(file.slice(root.length + 1))) return [];
  return unreadable.map((what) => `${file} imports ${what}`);
}

/** The entry that covers a file: the longest, so that a folder's own entry wins over that of the folder around it. */
function findEntry({ root, layers }: SourceRoot, file: string): { name: string; layer: number } | null {
  const path = file.slice(root.length + 1).replace(/\.(workerd\.)?test\.ts$/, ".ts");
  const entries = layers.flatMap((names, layer) => names.map((name) => ({ name, layer })));
  const covering = entries.filter(({ name }) => name === "." || isIn(path, name));
  return covering.sort((left, right) => right.name.length - left.name.length)[0] ?? null;
}

function isIn(file: string, folder: string): boolean {
  return file === folder || file.startsWith(`${folder}/`);
}

function isTest(file: string): boolean {
  return file.endsWith(".test.ts") || file.includes("/test-support/");
}
