import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Enums, Models, Serialize, SPDX, Spec, Validation } from "@cyclonedx/cyclonedx-library";

/** The workspaces whose packages are in what serves. */
const served = ["@trendvault/api", "@trendvault/client", "@trendvault/follow", "@trendvault/page"];

/** How a release needs a component: it is in the files that serve, it is brought by bin/setup, or checks need it only. */
type Need = `${Enums.ComponentScope}`;

/** What a release is made of, however its registry calls it. `hashes` are hexadecimal, by algorithm. */
type Part = {
  /** A package URL (ECMA-427). */
  purl: string;
  name: string;
  version: string;
  need: Need;
  /** An SPDX expression, or where it is written; undefined where nothing that is here says it. */
  license?: string | undefined;
  hashes: readonly { algorithm: "SHA-256" | "SHA-512"; hex: string }[];
  /** The SHA-256 of each file that pip may take for it. */
  fileHashes?: readonly string[];
  /** The package URLs of the parts that it needs itself. */
  needs: readonly string[];
};

/**
 * The bill of materials of a release, as CycloneDX 1.6 in JSON, and how many packages it names: what bun.lock,
 * npm-hashes.txt, requirements.txt and, where bin/setup has brought PHP, its list of Debian packages name. The same bytes for the same
 * release. `time` is the commit's.
 *
 * @throws Error when it does not keep to the schema of CycloneDX
 */
export async function billOfMaterials(
  root: string,
  { version, time }: { version: string; time: Date },
): Promise<{ json: string; packages: string }> {
  const parts = await readParts(root);
  const bom = new Models.Bom();
  bom.metadata.timestamp = time;
  const product = new Models.Component(Enums.ComponentType.Application, "trendvault", {
    version,
    purl: `pkg:github/trendvault/trendvault@v${version}`,
    bomRef: "trendvault",
  });
  bom.metadata.component = product;
  const components = new Map(parts.map((part) => [part.purl, componentOf(part)]));
  for (const { purl, need, needs } of parts) {
    const component = components.get(purl);
    if (component === undefined) continue;
    bom.components.add(component);
    for (const needed of needs) {
      const target = components.get(needed);
      if (target !== undefined) component.dependencies.add(target.bomRef);
    }
    if (need !== "excluded") product.dependencies.add(component.bomRef);
  }
  const spec = Spec.Spec1dot6;
  const json = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(spec)).serialize(bom, {
    sortLists: true,
    space: 1,
  });
  const errors = await new Validation.JsonStrictValidator(spec.version).validate(json);
  if (errors !== null) throw new Error(`The bill of materials breaks CycloneDX: ${JSON.stringify(errors)}`);
  return { json: `${json}\n`, packages: countParts(parts) };
}

async function readParts(root: string): Promise<Part[]> {
  const read = (path: string) => Bun.file(join(root, path)).text();
  const suite = /^DEBIAN_SUITE=(\w+)/m.exec(await read("tools/setup/versions.sh"))?.[1] ?? "";
  const hasDebian = await Bun.file(join(root, debianPackages)).exists();
  return [
    ...npmParts(await read("bun.lock")).map((part) => ({ ...part, license: licenseOf(part, root) })),
    ...toolParts(await read("tools/setup/npm-hashes.txt")),
    ...pythonParts(await read("tools/setup/requirements.txt")),
    ...(hasDebian ? debianParts(await read(debianPackages), suite) : []),
  ];
}

/** What an installed package's package.json says. */
function licenseOf({ name, version }: Part, root: string): string | undefined {
  const store = join(root, "node_modules/.bun");
  const beginning = `${name.replace("/", "+")}@${version}`;
  const installed = existsSync(store) ? readdirSync(store) : [];
  const folder = installed.find((one) => one === beginning || one.startsWith(`${beginning}+`));
  if (folder === undefined) return undefined;
  return JSON.parse(readFileSync(join(store, folder, "node_modules", name, "package.json"), "utf8")).license;
}

const debianPackages = ".tools/php/PACKAGES";

function countParts(parts: readonly Part[]): string {
  const count = (type: string) => parts.filter(({ purl }) => purl.startsWith(`pkg:${type}/`)).length;
  return `${count("npm")} npm, ${count("pypi")} Python and ${count("deb")} Debian packages`;
}

function componentOf(part: Part): Models.Component {
  const { purl, name, version, license } = part;
  const component = new Models.Component(Enums.ComponentType.Library, name, { version, purl, bomRef: purl });
  component.scope = part.need as Enums.ComponentScope;
  const id = SPDX.fixupSpdxId(license);
  if (id !== undefined) component.licenses.add(new Models.SpdxLicense(id));
  else if (license !== undefined) component.licenses.add(new Models.NamedLicense(license));
  for (const { algorithm, hex } of part.hashes) component.hashes.set(algorithm as Enums.HashAlgorithm, hex);
  const page = `https://pypi.org/project/${name}/${version}/#files`;
  for (const hex of part.fileHashes ?? []) {
    const hashes = new Models.HashDictionary([[Enums.HashAlgorithm["SHA-256"], hex]]);
    component.externalReferences.add(new Models.ExternalReference(page, distribution, { hashes }));
  }
  return component;
}

const distribution = Enums.ExternalReferenceType.Distribution;

type Packages = Bun.BunLockFile["packages"];
type Info = { dependencies?: Record<string, string>; optionalDependencies?: Record<string, string> };

/**
 * The npm packages of a bun.lock. What the served workspaces depend on at run time is required, everything else is
 * excluded: it builds and checks.
 *
 * @throws SyntaxError when the text is no bun.lock
 */
function npmParts(lockfile: string): Part[] {
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
    ...{ purl: purlOf({ name, version }), name, version, need },
    hashes: typeof integrity === "string" ? [{ algorithm: "SHA-512", hex: hexOf(integrity) }] : [],
    needs: keysOf((info ?? {}) as Info, key, packages).map((needed) =>
      purlOf(nameAndVersion(packages[needed]?.[0] ?? needed)),
    ),
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
  for (let around = from; around !== ""; around = around.replace(lastName, "")) {
    if (`${around}/${name}` in packages) return `${around}/${name}`;
  }
  return name in packages ? name : null;
}

/** Of a package: "@b/c" of "a/@b/c". */
const lastName = /(?:^|\/)(?:@[^/]+\/)?[^/]+$/;

function nameAndVersion(resolved: string): { name: string; version: string } {
  const at = resolved.lastIndexOf("@");
  return { name: resolved.slice(0, at), version: resolved.slice(at + 1) };
}

function purlOf({ name, version }: { name: string; version: string }): string {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}

/** Of Subresource Integrity, sha512-BASE64. */
function hexOf(integrity: string): string {
  return Buffer.from(integrity.replace(/^sha512-/, ""), "base64").toString("hex");
}

/** Runtimes and tools, which bin/setup takes from npm by their hashes. Bun serves. */
function toolParts(hashes: string): Part[] {
  const licenses: Record<string, string> = { npm: "Artistic-2.0" };
  return hashes
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [name = "", version = "", integrity = ""] = line.split(" ");
      return {
        ...{ purl: purlOf({ name, version }), name, version, needs: [], license: licenses[name] ?? "MIT" },
        need: name.startsWith("@oven/bun-linux-") ? "required" : "excluded",
        hashes: [{ algorithm: "SHA-512", hex: hexOf(integrity) }],
      } as const;
    });
}

/**
 * The packages that bin/setup unpacked from Debian's archive: file names like php8.4-cli_8.4.28-1~deb13u1_amd64.deb, with
 * %3a for the colon of an epoch, behind the SHA-256 of the file, which an older bin/setup did not write. PHP
 * and the writer's libraries run the writer; PHPUnit's only check it.
 */
function debianParts(fileNames: string, suite: string): Part[] {
  return fileNames
    .split("\n")
    .filter((line) => line.endsWith(".deb"))
    .map((line) => {
      const [file = "", sha256] = line.slice(0, -4).split("  ").reverse();
      const [name = "", version = "", architecture = ""] = decodeURIComponent(file).split("_");
      return {
        purl: `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}&distro=${suite}`,
        hashes: sha256 === undefined ? [] : [{ algorithm: "SHA-256", hex: sha256 }],
        ...{ name, version, needs: [], license: `as in /usr/share/doc/${name}/copyright` },
        need: checksOnly.test(name) ? "excluded" : "required",
      } as const;
    });
}

const checksOnly =
  /^(phpunit|php-(codecoverage|deepcopy|file-iterator|invoker|parser|phar-io|text-template|timer|tokenizer))/;

const requirement = /^(?<name>[A-Za-z0-9._-]+)==(?<version>[^\s;\\]+)/;

/** The packages of a pip requirements file with versions and hashes, which the load test, the benchmark and checks use. */
function pythonParts(requirements: string): Part[] {
  const lines = requirements.replaceAll("\\\n", " ").split("\n"); // one may go over several, which end with a backslash
  return lines.flatMap((line) => {
    const { name = "", version = "" } = requirement.exec(line)?.groups ?? {};
    const purl = `pkg:pypi/${name.toLowerCase().replaceAll(/[._]/g, "-")}@${version}`;
    const fileHashes = [...line.matchAll(/--hash=sha256:(\w+)/g)].map(([, hex = ""]) => hex);
    const part = { purl, name, version, need: "optional", hashes: [], fileHashes, needs: [] } as const;
    return name === "" ? [] : [part];
  });
}
