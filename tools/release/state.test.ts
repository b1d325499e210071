import { afterEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readState } from "./state.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A Git checkout with one commit. */
async function checkout({
  client = "1.0.0",
  changelog = "## Unreleased\n\n## 1.0.0 - 2026-11-22\n\n- all\n",
} = {}) {
  const root = mkdtempSync(join(tmpdir(), "trendvault-state-"));
  folders.push(root);
  mkdirSync(join(root, "client"));
  await Bun.write(join(root, "package.json"), '{ "version": "1.0.0" }');
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
