import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { followableSeconds } from "./lifetimes.ts";

test("the writer keeps a generation for as long as the next page of it may be asked for", () => {
  const path = Bun.fileURLToPath(import.meta.resolve("../writer/src/Cli/Settings.php"));
  const [, seconds] = /GENERATION_RETENTION_SECONDS = (\d+);/.exec(readFileSync(path, "utf8")) ?? [];
  expect(Number(seconds)).toBeGreaterThanOrEqual(followableSeconds);
});
