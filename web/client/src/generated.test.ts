import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateClient } from "../generated-client.ts";

const folder = mkdtempSync(join(tmpdir(), "trendvault-client-"));
afterAll(() => rmSync(folder, { recursive: true }));

function filesOf(root: string): Record<string, string> {
  const names = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = names.map(({ parentPath, name }) => join(parentPath, name)).sort();
  return Object.fromEntries(paths.map((path) => [path.slice(root.length), readFileSync(path, "utf8")]));
}

test("generated is made from openapi.json as it is (after a change: bun run generate in client)", async () => {
  await generateClient(folder);
  expect(filesOf(folder)).toEqual(filesOf(join(import.meta.dir, "../generated")));
});
