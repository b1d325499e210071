import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { billOfMaterials } from "./sbom.ts";
import { readState } from "./state.ts";

type State = Awaited<ReturnType<typeof readState>>;

type ReleaseFile = { name: string; bytes: number; what: string };

/**
 * Writes the files of a release into an empty folder.
 *
 * @throws Error when a tool fails, or when the bill of materials is not valid
 */
async function writeFiles(
  state: State,
  { root, folder }: { root: string; folder: string },
): Promise<ReleaseFile[]> {
  mkdirSync(folder, { recursive: true });
  const base = `trendvault-${state.version}`;
  await Bun.$`git -C ${root} archive --format=tar.gz --prefix=${base}/ --output=${join(folder, `${base}.tar.gz`)} ${state.commit}`.quiet();
  await packClient(root, join(folder, `trendvault-client-${state.version}.tgz`));
  await Bun.$`bun ${join(root, "web/page/documents/build.ts")} --archive ${join(folder, `${base}-documents.tar.gz`)}`.quiet();
  const debian = await Bun.$`${join(root, "tools/release/package-debian")} ${folder} ${state.version}`.text();
  const { json, packages } = await billOfMaterials(root, state);
  await Bun.write(join(folder, `${base}.cdx.json`), json);
  await Bun.write(join(folder, "CHANGES.md"), `${state.changes?.text ?? ""}\n`);
  const described = [
    [`${base}.tar.gz`, "the source, as Git has it"],
    [`trendvault-client-${state.version}.tgz`, "the npm package @trendvault/client"],
    [basename(debian.trim()), "the Debian package"],
    [`${base}-documents.tar.gz`, "the documents as a site of static files"],
    [`${base}.cdx.json`, `the SBOM, CycloneDX 1.6: ${packages}`],
    ["CHANGES.md", "what has changed, from CHANGELOG.md"],
  ] as const;
  const sums = await Bun.$`sha256sum ${described.map(([name]) => name)}`.cwd(folder).text();
  await Bun.write(join(folder, "SHA256SUMS"), sums);
  return [...described, ["SHA256SUMS", "for sha256sum --check"] as const].map(([name, what]) => ({
    name,
    bytes: Bun.file(join(folder, name)).size,
    what,
  }));
}

/** As npm publishes it, by the client's own program, in a folder that is removed again. */
async function packClient(root: string, path: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "trendvault-client-"));
  try {
    await Bun.$`bun pack.ts ${folder}`.cwd(join(root, "web/client")).quiet();
    cpSync(join(folder, "package.tgz"), path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What bin/release prints. */
function describeRelease(state: State, files: readonly ReleaseFile[]): string {
  const { version, tag, commit, time, changes, todo } = state;
  const width = Math.max(...files.map(({ name }) => name.length));
  return `TrendVault ${version}: commit ${commit.slice(0, 12)} of ${time.toISOString()}, tag ${tag}

What a release holds:
${files.map(({ name, bytes, what }) => `  ${name.padEnd(width)}  ${(bytes / 1024).toFixed(0).padStart(6)} KiB  ${what}`).join("\n")}
  and the images trendvault-writer:${version} and trendvault-origin:${version}, which CI builds from the Dockerfile

What has changed (${changes === null ? "CHANGELOG.md says nothing" : changes.version}):

${changes?.text ?? ""}

${todo.length === 0 ? `Ready. To release: git tag --sign ${tag} && git push origin ${tag}` : `Still to do before the tag:\n${todo.map((sentence) => `- ${sentence}`).join("\n")}`}`;
}

const root = resolve(import.meta.dir, "../..");

process.exitCode = await main(Bun.argv.slice(2)).catch((error: unknown) => {
  console.error(`bin/release: ${error instanceof Error ? error.message : error}`);
  return 2;
});

/** 0 when the files are there, or were shown; 1 when something is still to do before a release. */
async function main(argv: string[]): Promise<number> {
  const { values } = parseArgs({
    args: argv,
    options: {
      "dry-run": { type: "boolean", default: false },
      output: { type: "string", default: "dist/release" },
      tag: { type: "string" },
    },
  });
  const state = await readState(root, values.tag ?? null);
  if (!values["dry-run"] && state.todo.length > 0) throw new Error(`Not yet:\n${state.todo.join("\n")}`);
  const folder = values["dry-run"]
    ? mkdtempSync(join(tmpdir(), "trendvault-release-"))
    : resolve(values.output);
  try {
    console.log(describeRelease(state, await writeFiles(state, { root, folder })));
  } finally {
    if (values["dry-run"]) rmSync(folder, { recursive: true });
  }
  return 0;
}
