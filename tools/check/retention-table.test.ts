import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { bundleNames, objectNames } from "@trendvault/contract/pointer";

const root = resolve(import.meta.dir, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

/** The names in the first column of docs/privacy.md's table, of the rows whose place begins so. */
function namedAt(place: string): string[] {
  const [, table = ""] = read("docs/privacy.md").split("\n## Retention\n");
  const rows = (table.split("\n## ")[0] ?? "").split("\n").filter((line) => line.startsWith(`| ${place}`));
  const cells = rows.map((row) => row.split("|")[1] ?? "");
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name as string)).sort();
}

function tablesIn(path: string): string[] {
  const statements = read(path).matchAll(/CREATE TABLE (?:IF NOT EXISTS )?([a-z_]+)/g);
  return [...statements].map(([, name]) => name as string).sort();
}

/** What the Worker is bound to, in the first table of each kind: environments have the same, as another test says. */
function bindings(): string[] {
  const named =
    /^\[\[(kv_namespaces|r2_buckets|ratelimits|durable_objects\.bindings)\]\]\n(?:binding|name) = "(\w+)"/gm;
  return [...read("wrangler.toml").matchAll(named)].map(([, , name]) => name as string).sort();
}

function storeNames(): string[] {
  const names = [...Object.values(objectNames), ...Object.values(bundleNames)].map((name) =>
    typeof name === "string" ? name : String(name({} as never)).replace(/[^/]+$/, ""),
  );
  return [...new Set(names)].sort();
}

test("docs/privacy.md says of every table of the database how long its rows stay, and of no other", () => {
  expect(namedAt("database:")).toEqual(tablesIn("db/schema.sql"));
});

test("docs/privacy.md says it of every binding of the Worker, and of the tables of its objects", () => {
  const objects = tablesIn("edge-worker/src/minute-counts.ts");
  const named = namedAt("edge:");
  expect(named).toEqual([...bindings(), ...objects].sort());
  expect(bindings().length).toBeGreaterThan(4);
});

test("docs/privacy.md says it of the follower's memory", () => {
  expect(namedAt("follower: `stores`")).toEqual([...tablesIn("api/follow/src/memory.ts"), ".follow"].sort());
});

test("docs/privacy.md says it of everything in a store", () => {
  expect(namedAt("store:")).toEqual([...storeNames(), "backups/"].sort());
});

test("the settings that docs/privacy.md names there exist", () => {
  const [, table = ""] = read("docs/privacy.md").split("\n## Retention\n");
  const settings = [...table.matchAll(/`([A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+)`/g)].map(
    ([, name]) => name as string,
  );
  const known = read(".env.example") + read("wrangler.toml");
  expect(settings.filter((name) => !known.includes(name))).toEqual([]);
  expect(settings.length).toBeGreaterThan(10);
});
