import { afterEach, expect, test } from "bun:test";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { newFolder } from "@trendvault/kit/machine";
import { readState } from "./state.ts";

const changelog = `# Changelog

Words before the first section.

## Unreleased

### Added

- new

## 1.1.0 - 2026-12-01

- of 1.1

## [1.0.0] - 2026-11-22

- of 1.0
`;

test.each([
  ["whose heading is a link", "1.0.0", { version: "1.0.0", date: "2026-11-22", text: "- of 1.0" }],
  ["whose heading is none", "1.1.0", { version: "1.1.0", date: "2026-12-01", text: "- of 1.1" }],
  ["it has none yet", "2.0.0", { version: "Unreleased", date: null, text: "### Added\n\n- new" }],
])("a version's changes are its section, %s", async (_, version, section) => {
  const { changes } = await readState(await checkout({ version, client: version, changelog }));
  expect(changes).toEqual(section);
});

test("a changelog without a section has no changes", async () => {
  expect((await readState(await checkout({ changelog: "# Changelog\n" }))).changes).toBeNull();
});

test("this project's changelog keeps to the form: the newest first, and only the six kinds of changes", async () => {
  const text = await Bun.file(join(import.meta.dir, "../../CHANGELOG.md")).text();
  const [first, ...released] = [...text.matchAll(/^## (.*)$/gm)].map(([, heading = ""]) => heading);
  expect(first).toBe("Unreleased");
  const dates = released.map((heading) => / - (\d{4}-\d\d-\d\d)$/.exec(heading)?.[1] ?? "without a date");
  expect(dates).toEqual([...dates].sort().reverse());
  const kinds = [...text.matchAll(/^### (.*)$/gm)].map(([, kind]) => kind);
  const allowed = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];
  expect(kinds.filter((kind) => !allowed.includes(kind ?? ""))).toEqual([]);
});

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A Git checkout with one commit. */
async function checkout({
  version = "1.0.0",
  client = "1.0.0",
  changelog = "## Unreleased\n\n## 1.0.0 - 2026-11-22\n\n- all\n",
} = {}) {
  const root = newFolder("state");
  folders.push(root);
  mkdirSync(join(root, "client"));
  await Bun.write(join(root, "package.json"), JSON.stringify({ version }));
  await Bun.write(join(root, "web/client/package.json"), JSON.stringify({ version: client }));
  await Bun.write(join(root, "CHANGELOG.md"), changelog);
  await git(root, "init", "--quiet");
  await git(root, "add", ".");
  await git(root, "commit", "--quiet", "--no-gpg-sign", "--message", "All");
  return root;
}

const git = (root: string, ...words: string[]) =>
  Bun.$`git -C ${root} -c user.name=Test -c user.email=test@example.com ${words}`.quiet();

test("a clean checkout with its section in the changelog is ready", async () => {
  const state = await readState(await checkout());
  expect(state).toMatchObject({ version: "1.0.0", tag: "v1.0.0", todo: [] });
  expect(state.changes?.text).toBe("- all");
});

test("what is still to do is said, each thing by itself", async () => {
  const root = await checkout({ client: "0.9.0", changelog: "## Unreleased\n\n- all\n" });
  await git(root, "tag", "v1.0.0");
  await Bun.write(join(root, "new"), "");
  const { todo } = await readState(root);
  expect(todo.map((sentence) => sentence.slice(0, 12)).join("|")).toBe(
    "package.json|CHANGELOG.md|The checkout|The tag v1.0",
  );
});

test("the tag that is being released may be there, and has to be the version's", async () => {
  const root = await checkout();
  await git(root, "tag", "v1.0.0");
  expect((await readState(root, "v1.0.0")).todo).toEqual([]);
  expect((await readState(root, "v1.0.1")).todo).toEqual([
    "The tag v1.0.1 is not the version's, which is v1.0.0.",
  ]);
});
