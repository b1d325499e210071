import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BuildMetafile } from "bun";

type Package = { name: string; version: string; license: string; texts: string[] };

/**
 * Writes beside what was built (THIRD-PARTY.txt in `target`) what the licences of others ask to be passed on with code of
 * theirs that it took. `folder`: where the builds ran, in which their paths begin.
 *
 * @throws Error when a package says no licence, or has no text of it
 */
export function writeNotices(
  target: string,
  built: readonly (BuildMetafile | undefined)[],
  folder = process.cwd(),
): void {
  writeFileSync(join(target, "THIRD-PARTY.txt"), noticesOf(built, folder));
}

function noticesOf(built: readonly (BuildMetafile | undefined)[], folder: string): string {
  const paths = built.flatMap((metafile) => Object.keys(metafile?.inputs ?? {}));
  const folders = paths.flatMap(
    (path) => /^.*\/node_modules\/(@[^/]+\/)?[^/]+(?=\/)/.exec(`/${path}`)?.[0] ?? [],
  );
  const packages = [...new Set(folders)].map((path) => readPackage(join(folder, path)));
  const written = new Map(packages.map((one) => [`${one.name} ${one.version}`, one]));
  const chapters = [...written].sort(([left], [right]) => left.localeCompare(right, "en"));
  const heading = "This program contains code of others, under the licences below.";
  return [
    heading,
    ...chapters.map(([title, one]) => `${title} (${one.license})\n\n${one.texts.join("\n\n")}`),
  ]
    .join(`\n\n${"-".repeat(80)}\n`)
    .concat("\n");
}

function readPackage(folder: string): Package {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const texts = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|notice)(\.|-|$)/i.test(file))
    .sort()
    .map((file) => readFileSync(join(folder, file), "utf8").trim());
  if (typeof license !== "string" || texts.length === 0) {
    throw new Error(`${name} ${version}: expected a licence in its package.json, and a file with its text`);
  }
  return { name, version, license, texts };
}
