import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { bundle, Edge, wrangler } from "@trendvault/kit/edge";
import { root } from "@trendvault/kit/machine";
import { createTestHarness, unstable_readConfig as readConfig, type TestHarness } from "wrangler";

const run = promisify(execFile);
// Bytes; counting takes 23 KB of them, reading bundles as many, joining stores 5, to weigh Accept and languages 0.4.
const largestBundle = 103_000;

describe("what is deployed", () => {
  test("is a bundle of less than 103 KB", () => {
    const { size } = statSync(join(bundle(), "main.js"));
    assert.ok(size < largestBundle, `${size} bytes`);
  });

  test("holds the contract and its parser of structured fields, and no other dependency", () => {
    const { sources } = JSON.parse(readFileSync(join(bundle(), "main.js.map"), "utf8")) as {
      sources: string[];
    };
    const strangers = sources.filter(
      (source) =>
        !/edge-worker\/src\/|^(\.\.\/)*src\/|contract\/|db\/regions\.json|node_modules\/structured-headers\//.test(
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

describe("a Worker with bad settings", () => {
  let edge: Edge;
  before(async () => {
    edge = await Edge.start("http://127.0.0.1:9", {
      ORIGIN_TIMEOUT_SECONDS: "soon",
      ORIGIN_BACKOFF_SECONDS: "later",
    });
  });
  after(() => edge.close());

  test("answers 500 and logs each of them", async () => {
    const response = await edge.fetch("/api/trending");
    assert.equal(response.status, 500);
    assert.equal(response.headers.get("cache-control"), "no-store");
    assert.equal(((await response.json()) as { type: string }).type, "/problems/internal");
    const [line] = edge.logs().map((text) => JSON.parse(text));
    assert.deepEqual([line.level, line.event], ["error", "request_failed"]);
    assert.match(line.error, /ORIGIN_TIMEOUT_SECONDS: expected seconds/);
    assert.match(line.error, /^ORIGIN_BACKOFF_SECONDS: expected seconds/m);
  });
});

const accessKey = "the-access-key";
const authorization = `AWS4-HMAC-SHA256 Credential=${accessKey}/20261120/auto/s3/aws4_request, SignedHeaders=host, Signature=0`;

describe("the store of bin/up --no-origin", () => {
  let harness: TestHarness;
  before(async () => {
    const { compatibility_date, r2_buckets } = readConfig({ config: join(root, "wrangler.toml"), env: "" });
    const config = {
      name: "dev-store",
      main: join(root, "edge-worker/dev-store/main.ts"),
      compatibility_date,
      r2_buckets,
      vars: { DEV_STORE_ACCESS_KEY: accessKey },
    };
    harness = createTestHarness({ root, workers: [{ config }] });
    await harness.listen();
  });
  after(() => harness.close());

  const ask = (
    key: string,
    init: { method?: string; body?: string; headers?: Record<string, string> } = {},
  ) =>
    harness.getWorker("dev-store").fetch(`https://site.example/dev-store/${key}`, {
      ...init,
      headers: { authorization, ...init.headers },
    });
  const put = (key: string, body: string, headers: Record<string, string> = {}) =>
    ask(key, { method: "PUT", body, headers });

  test("takes an object once, and replaces it for who names the one it holds", async () => {
    const first = await put("a/current.json", "one", { "if-none-match": "*" });
    assert.equal(first.status, 200);
    assert.equal((await put("a/current.json", "two", { "if-none-match": "*" })).status, 412);
    assert.equal((await put("a/current.json", "two", { "if-match": '"0"' })).status, 412);
    assert.equal(
      (await put("a/current.json", "two", { "if-match": first.headers.get("etag") ?? "" })).status,
      200,
    );
    assert.equal(await (await ask("a/current.json")).text(), "two");
  });

  test("answers HEAD", async () => {
    const { headers } = await put("a/object", "0123456789");
    const head = await ask("a/object", { method: "HEAD" });
    assert.deepEqual([head.status, head.headers.get("content-length")], [200, "10"]);
    assert.equal(head.headers.get("etag"), headers.get("etag"));
  });

  test("refuses a body that is not the one whose hash was sent", async () => {
    const wrong = await put("a/wrong", "one", { "x-amz-content-sha256": "0".repeat(64) });
    assert.equal(wrong.status, 400);
    assert.equal((await ask("a/wrong")).status, 404);
  });

  test("lists by prefix in pages, and deletes", async () => {
    for (const name of ["b/1", "b/2", "b/3&", "c/1"]) await put(name, name);
    const pages = [await (await ask("?list-type=2&prefix=b/&max-keys=2")).text()];
    const [, token = ""] = /<NextContinuationToken>(.*)<\/NextContinuationToken>/.exec(pages[0] ?? "") ?? [];
    const next = `?list-type=2&prefix=b/&continuation-token=${encodeURIComponent(token)}`;
    pages.push(await (await ask(next)).text());
    const keys = pages.flatMap((page) => [...page.matchAll(/<Key>(.*?)<\/Key>/g)].map(([, key]) => key));
    assert.deepEqual(keys, ["b/1", "b/2", "b/3&amp;"]);
    assert.equal((await ask("b/1", { method: "DELETE" })).status, 204);
    assert.equal((await ask("b/1")).status, 404);
  });

  test("keeps the ten newest bundles, and their pointers", async () => {
    for (let number = 1; number <= 12; number++) {
      await put(`d/bundles/${number}.json`, "pointer");
      await put(`d/bundles/${number}-x.bundle`, "bundle");
    }
    const listing = await (await ask("?list-type=2&prefix=d/bundles/")).text();
    assert.equal(listing.match(/<Key>/g)?.length, 20);
    assert.equal((await ask("d/bundles/2.json")).status, 404);
    assert.equal((await ask("d/bundles/12-x.bundle")).status, 200);
  });

  test("refuses who does not have the access key, and what it does not know", async () => {
    assert.equal((await ask("a/object", { headers: { authorization: "" } })).status, 403);
    assert.equal((await ask("a/object", { method: "POST", body: "x" })).status, 501);
  });
});
