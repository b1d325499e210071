import { resolve } from "node:path";
import { trackedFiles } from "../run-suite.ts";
import { findViolations } from "./find-violations.ts";
import { readImports, readPhpNames } from "./read-imports.ts";
import { table } from "./table.ts";

const root = resolve(import.meta.dir, "../../..");

/** `bun tools/check/layers/main.ts [ROOT…]` checks all roots, or those that are named. */
const named = Bun.argv.slice(2);
refuseUnknown(named.filter((name) => !table.some((entry) => entry.root === name)));
const checked = table.filter((entry) => named.length === 0 || named.includes(entry.root));
const imports = readImports(listFiles(table.map((entry) => entry.root)), root);
const violations = [
  ...checked.flatMap((sourceRoot) => findViolations(sourceRoot, imports)),
  ...findUnformattable(),
];
for (const violation of violations) console.error(violation);
console.log(`${checked.map((entry) => entry.root).join(", ")}: ${violations.length} violations`);
process.exitCode = violations.length === 0 ? 0 : 1;

function refuseUnknown([unknown]: readonly string[]): void {
  if (unknown === undefined) return;
  console.error(
    `There is no root "${unknown}": the roots are ${table.map((entry) => entry.root).join(", ")}.`,
  );
  process.exit(2);
}

/** Prettier's PHP plugin deletes these two without a word (docs/decisions/0012). */
function findUnformattable(): string[] {
  return readPhpNames(listFiles(["*.php"]), root).flatMap(({ file, unformattable }) =>
    unformattable.map(
      (line) => `${file}:${line}: prettier deletes property hooks and asymmetric visibility: do without`,
    ),
  );
}

function listFiles(patterns: readonly string[]): string[] {
  return trackedFiles(patterns, root).filter((file) => /\.([cm]?[jt]sx?|php)$/.test(file));
}
