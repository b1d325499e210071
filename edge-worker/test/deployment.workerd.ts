import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { unstable_readConfig as readConfig } from "wrangler";
import { bundle, root, wrangler } from "./edge.ts";

const run = promisify(execFile);
const largestBundle = 113_000; // bytes; counting takes 22 KB of them, reading bundles as many, joining stores 5

describe("what is deployed", () => {
  test("is a bundle of less than 113 KB", () => {
    const { size } = statSync(join(bundle(), "main.js"));
    assert.ok(size < largestBundle, `${size} bytes`);
  });

  test("holds the contract, its schema library and its parser of structured fields, and no other dependency", () => {
    const { sources } = JSON.parse(readFileSync(join(bundle(), "main.js.map"), "utf8")) as {
      sources: string[];
    };
    const strangers = sources.filter(
      (source) =>
        !/edge-worker\/src\/|^(\.\.\/)*src\/|contract\/|db\/regions\.json|node_modules\/zod\/v4\/(core|mini|classic\/external|locales\/en)|node_modules\/structured-headers\//.test(
          source,
        ),
    );
    assert.deepEqual(strangers, []);
  });

  test("has the types that wrangler.toml gives it", async () => {
    const command = [
      "types",
      "edge-worker/worker-configuration.d.ts",
      "--include-runtime=false",
      "--strict-vars=false",
      "--check",
    ];
    await run(wrangler, command, { cwd: root });
  });

  const environments = ["staging", "production"] as const;
  const read = (env: string) => readConfig({ config: join(root, "wrangler.toml"), env });

  for (const env of environments) {
    test(`in ${env} has the bindings and variables that development has, and may do without VIEWS_KEYS`, () => {
      const names = (name: string) => {
        const config = read(name);
        return {
          vars: Object.keys(config.vars),
          stores: config.kv_namespaces.map((store: { binding: string }) => store.binding),
          limits: config.ratelimits.map(({ name, simple }: { name: string; simple: object }) => ({
            name,
            simple,
          })),
          secrets: config.secrets?.required?.filter((secret: string) => secret !== "VIEWS_KEYS"),
          objects: config.durable_objects.bindings,
          migrations: config.migrations,
        };
      };
      assert.deepEqual(names(env), names(""));
    });
  }

  test("passes wrangler's own checks in both", async () => {
    const check = (env: string) => run(wrangler, ["deploy", "--dry-run", "--env", env], { cwd: root });
    await Promise.all(environments.map(check));
  });

  test("logs what it writes itself, and has no traces, which would have the visitor's user agent and town", () => {
    for (const env of ["", "staging", "production"]) {
      const { traces, logs } = read(env).observability ?? {};
      assert.deepEqual([traces?.enabled, logs?.enabled, logs?.invocation_logs], [false, true, false], env);
    }
  });

  test("has no secret in wrangler.toml", () => {
    const text = readFileSync(join(root, "wrangler.toml"), "utf8");
    assert.doesNotMatch(text, /EDGE_KEYS\s*=/);
    assert.doesNotMatch(text, /[A-Za-z0-9_-]{43}/, "32 bytes of base64url");
  });
});
