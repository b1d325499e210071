import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { followableSeconds, viewsAcceptedSeconds } from "./lists.ts";

test.each([
  ["the next page of it may be asked for", followableSeconds],
  ["messages about its ranks are taken", viewsAcceptedSeconds],
])("the writer keeps a generation for as long as %s", (_reason, seconds) => {
  const path = Bun.fileURLToPath(import.meta.resolve("../writer/src/Cli/Settings.php"));
  const [, kept] = /GENERATION_RETENTION_SECONDS = (\d+);/.exec(readFileSync(path, "utf8")) ?? [];
  expect(Number(kept)).toBeGreaterThanOrEqual(seconds);
});
