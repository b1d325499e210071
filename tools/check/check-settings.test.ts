import { expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { newFolder } from "@trendvault/kit/machine";

const root = resolve(import.meta.dir, "../..");

/** What bin/check-settings says of a file with these lines. */
function check(...lines: string[]): { code: number; said: string[] } {
  const folder = newFolder("settings");
  const path = join(folder, "a.env");
  writeFileSync(path, `${lines.join("\n")}\n`);
  const { exitCode, stderr } = Bun.spawnSync([join(root, "bin/check-settings"), path]);
  rmSync(folder, { recursive: true });
  const said = stderr.toString().replaceAll(`${path}: `, "").trim();
  return { code: exitCode, said: said === "" ? [] : said.split("\n") };
}

function settings(): string[] {
  const lines = readFileSync(join(root, ".env.example"), "utf8").matchAll(/^(?:# )?([A-Z][A-Z0-9_]+)=/gm);
  return [...lines].map(([, name]) => name as string);
}

test("a settings file with a name that is not known is told so, with the nearest that is", () => {
  const { code, said } = check("PORT=3000", "SIGNING_KEY=x", "  export STORE_TIMEOUT_SECOND=1", "# KEEP=1");
  expect(said).toEqual([
    "SIGNING_KEY is not a setting; the nearest is SIGNING_KEYS.",
    "STORE_TIMEOUT_SECOND is not a setting; the nearest is STORE_TIMEOUT_SECONDS.",
  ]);
  expect(code).toBe(2);
});

test("a name that resembles none gets no far-fetched one", () => {
  expect(check("MAX_UPLOAD=1").said).toEqual(["MAX_UPLOAD is not a setting; .env.example has them all."]);
});

test("without a file it says what is expected", () => {
  const { exitCode, stderr } = Bun.spawnSync([join(root, "bin/check-settings")]);
  expect([exitCode, stderr.toString()]).toEqual([2, expect.stringContaining("Expected one or more files")]);
});

test("every setting of .env.example and of the edge is known, and so is what the system sets", () => {
  const edge = ["EDGE_SIGNING_KEY=x", "VIEWS_SHARDS=1"];
  const others = ["PATH=/bin", "TZ=UTC", "OTEL_EXPORTER_OTLP_HEADERS=x"];
  expect(check(...settings().map((name) => `${name}=x`), ...edge, ...others)).toEqual({ code: 0, said: [] });
});

test("a file that cannot be read is named", () => {
  const { exitCode, stderr } = Bun.spawnSync([join(root, "bin/check-settings"), "/nowhere/a.env"]);
  expect([exitCode, stderr.toString()]).toEqual([2, "Cannot read /nowhere/a.env.\n"]);
});

test("there are at most 45 settings, each once, and a program reads each", () => {
  const names = settings();
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeLessThanOrEqual(45);
  const folders = ["api/src", "api/follow/src", "writer/src"];
  const code = folders
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
        .filter((path) => /(?<!\.test)\.(ts|php)$/.test(path))
        .map((path) => readFileSync(join(root, folder, path), "utf8")),
    )
    .join("\n");
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(code))).toEqual([]);
});
