import type { Need, Part } from "./component.ts";

type Packages = Bun.BunLockFile["packages"];
type Info = { dependencies?: Record<string, string>; optionalDependencies?: Record<string, string> };

/**
 * The npm packages of a bun.lock. What the named workspaces depend on at run time is required, everything else is
 * excluded: it builds and checks.
 *
 * @throws SyntaxError when the text is no bun.lock
 */
export function npmParts(lockfile: string, served: readonly string[]): Part[] {
  const { packages, workspaces } = Bun.JSONC.parse(lockfile) as Bun.BunLockFile;
  const required = new Set<string>();
  for (const workspace of Object.values(workspaces)) {
    if (!served.includes(workspace.name ?? "")) continue;
    for (const key of keysOf(workspace, workspace.name ?? "", packages)) reach(key, packages, required);
  }
  const byPurl = new Map<string, Part>();
  for (const key of Object.keys(packages)) {
    if (packages[key]?.[0].includes("@workspace:")) continue;
    const part = partAt(key, packages, required.has(key) ? "required" : "excluded");
    byPurl.set(part.purl, merge(byPurl.get(part.purl), part));
  }
  return [...byPurl.values()];
}

function partAt(key: string, packages: Packages, need: Need): Part {
  const [resolved = key, , info, integrity] = packages[key] ?? [];
  const { name, version } = nameAndVersion(resolved);
  return {
    ...{ purl: purlOf(name, version), name, version, need },
    hashes: typeof integrity === "string" ? [{ algorithm: "SHA-512", hex: hexOf(integrity) }] : [],
    needs: keysOf((info ?? {}) as Info, key, packages).map((needed) => purlAt(needed, packages)),
  };
}

/** The lock may have a version in several places. */
function merge(before: Part | undefined, part: Part): Part {
  if (before === undefined) return part;
  const need = before.need === "required" ? "required" : part.need;
  return { ...part, need, needs: [...new Set([...before.needs, ...part.needs])] };
}

function reach(key: string, packages: Packages, reached: Set<string>): void {
  if (reached.has(key)) return;
  reached.add(key);
  const info = packages[key]?.[2] as Info | undefined;
  for (const next of keysOf(info ?? {}, key, packages)) reach(next, packages, reached);
}

/** The keys under which the lock has what a package (or workspace) needs; what has no package on any platform is left out. */
function keysOf(
  { dependencies = {}, optionalDependencies = {} }: Info,
  from: string,
  packages: Packages,
): string[] {
  return Object.keys({ ...dependencies, ...optionalDependencies })
    .map((name) => keyOf(name, from, packages))
    .filter((key) => key !== null);
}

/** A package finds its own copy of another one first, then those of the packages around it (`a/b`), then the common one. */
function keyOf(name: string, from: string, packages: Packages): string | null {
  for (let around = from; around !== ""; around = withoutLast(around)) {
    if (`${around}/${name}` in packages) return `${around}/${name}`;
  }
  return name in packages ? name : null;
}

/** "a/@b/c" without its last package name is "a". */
function withoutLast(key: string): string {
  return key.replace(/(?:^|\/)(?:@[^/]+\/)?[^/]+$/, "");
}

function purlAt(key: string, packages: Packages): string {
  const { name, version } = nameAndVersion(packages[key]?.[0] ?? key);
  return purlOf(name, version);
}

function nameAndVersion(resolved: string): { name: string; version: string } {
  const at = resolved.lastIndexOf("@");
  return { name: resolved.slice(0, at), version: resolved.slice(at + 1) };
}

function purlOf(name: string, version: string): string {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}

/** Of Subresource Integrity, sha512-BASE64. */
function hexOf(integrity: string): string {
  return Buffer.from(integrity.replace(/^sha512-/, ""), "base64").toString("hex");
}
