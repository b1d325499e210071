import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { createTestHarness, unstable_readConfig as readConfig, type TestHarness } from "wrangler";
import { root } from "./edge.ts";

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

  test("answers HEAD, ranges and conditions", async () => {
    const { headers } = await put("a/object", "0123456789");
    const head = await ask("a/object", { method: "HEAD" });
    assert.deepEqual([head.status, head.headers.get("content-length")], [200, "10"]);
    assert.equal(head.headers.get("etag"), headers.get("etag"));
    const part = await ask("a/object", { headers: { range: "bytes=2-4" } });
    assert.deepEqual([part.status, await part.text()], [206, "234"]);
    const same = await ask("a/object", { headers: { "if-none-match": headers.get("etag") ?? "" } });
    assert.equal(same.status, 304);
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
