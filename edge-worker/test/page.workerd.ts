import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { docsPolicy, workerPolicy } from "@trendvault/contract/page";
import { verifyIndependently } from "@trendvault/contract/test-support/independent-verifiers";
import { root } from "./edge.ts";
import { keySet } from "./keys.ts";
import { startTestStack, type TestStack } from "./test-stack.ts";

const assets = JSON.parse(readFileSync(join(root, "web/page/dist/manifest.json"), "utf8"));

describe("a page for people, at the edge", () => {
  let stack: TestStack;
  before(async () => {
    stack = await startTestStack();
  });
  after(() => stack.close());

  test("is the page of the visitor's country and private without a region, and public with one", async () => {
    const [own, named] = [
      await stack.edge.fetch("/", { country: "PL" }),
      await stack.edge.fetch("/?region=pl&window=day", { country: "DE" }),
    ];
    for (const { status, headers } of [own, named]) {
      assert.deepEqual([status, headers.get("content-location")], [200, "/?region=PL"]);
    }
    assert.match(own.headers.get("cache-control") ?? "", /^private, max-age=/);
    assert.match(named.headers.get("cache-control") ?? "", /^public, max-age=/);
    assert.equal(await own.text(), await named.text());
  });

  test("is the origin's, byte by byte, signed, and from the cache the second time", async () => {
    const target = "/?region=ES&window=now&lang=en";
    const headers = { "accept-encoding": "identity" };
    const response = await stack.edge.fetch(target, { headers });
    assert.ok(stack.proxy.bodies.get(target)?.has(await response.text()));
    const again = await stack.edge.fetch(target, { headers });
    assert.match(again.headers.get("cache-status") ?? "", /^trendvault; hit/);
    await verifyIndependently(
      { status: again.status, headers: new Headers([...again.headers]) },
      JSON.parse(keySet),
    );
    const etag = again.headers.get("etag") ?? "";
    assert.equal((await stack.edge.fetch(target, { headers: { "if-none-match": etag } })).status, 304);
    assert.equal(await (await stack.edge.fetch(target, { method: "HEAD" })).text(), "");
  });

  test("has whatever was built for it, where the static assets lack it: a rolling deployment has two versions", async () => {
    const names = readdirSync(join(root, "web/page/dist/public/assets"));
    const paths = ["/service-worker.js", ...names.map((name) => `/assets/${name}`)];
    for (const path of paths) {
      const response = await stack.edge.fetch(path, { headers: { "accept-encoding": "identity" } });
      assert.deepEqual([path, response.status], [path, 200]);
      assert.equal(await response.text(), readFileSync(join(root, "web/page/dist/public", path), "utf8"));
      const policy =
        path === "/service-worker.js" ? workerPolicy : "default-src 'none'; frame-ancestors 'none'";
      assert.equal(response.headers.get("content-security-policy"), policy); // without connect-src, a worker is offline for ever
    }
  });

  test("has feeds, byte by byte the origin's, which count from the list's time like a list", async () => {
    for (const [target, type] of [
      ["/feeds/ES.atom?window=now", "application/atom+xml"],
      ["/feeds/ES.json?window=now", "application/feed+json"],
    ] as const) {
      const response = await stack.edge.fetch(target, { headers: { "accept-encoding": "identity" } });
      assert.deepEqual([response.status, response.headers.get("content-type")], [200, type]);
      assert.ok(stack.proxy.bodies.get(target)?.has(await response.text()));
      const again = await stack.edge.fetch(target);
      assert.match(again.headers.get("cache-status") ?? "", /^trendvault; hit/);
    }
    const unknown = await stack.edge.fetch("/feeds/ES.atom?category=None");
    assert.equal(unknown.status, 400);
  });

  test("does not depend on the language that a browser asks for", async () => {
    const texts = ["pl", "de-DE,de;q=0.9", "*"].map(async (language) => {
      const headers = { "accept-language": language };
      return (await stack.edge.fetch("/?region=FR", { headers })).text();
    });
    assert.equal(new Set(await Promise.all(texts)).size, 1);
  });

  test("has the policy that the origin signed, which nobody may frame, and a list of JSON has none of it", async () => {
    const { headers } = await stack.edge.fetch("/?region=ES");
    const policy = headers.get("content-security-policy") ?? "";
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'/);
    assert.match(
      policy,
      /; require-trusted-types-for 'script'; trusted-types trendvault; frame-ancestors 'none'$/,
    );
    assert.doesNotMatch(policy, /unsafe/);
    assert.match(headers.get("permissions-policy") ?? "", /camera=\(\)/);
    assert.equal(headers.get("referrer-policy"), "no-referrer");
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.equal(headers.get("set-cookie"), null);
    const json = await stack.edge.fetch("/api/trending?region=ES");
    assert.equal(json.headers.get("content-security-policy"), "default-src 'none'; frame-ancestors 'none'");
    assert.equal(json.headers.get("permissions-policy"), null);
  });

  test("that is the reference of the API comes with its own policy, and from the cache the second time", async () => {
    await stack.edge.fetch("/docs");
    const { status, headers } = await stack.edge.fetch("/docs");
    assert.deepEqual([status, headers.get("content-location")], [200, "/docs"]);
    assert.equal(headers.get("content-security-policy"), `${docsPolicy}; frame-ancestors 'none'`);
    assert.match(headers.get("cache-status") ?? "", /^trendvault; hit/);
  });

  test("says at /about how lists are made, under the same policy, and takes no parameters", async () => {
    const { status, headers } = await stack.edge.fetch("/about");
    assert.deepEqual([status, headers.get("content-location")], [200, "/about"]);
    assert.match(headers.get("content-security-policy") ?? "", /; frame-ancestors 'none'$/);
    assert.equal((await stack.edge.fetch("/about?region=ES")).status, 400);
  });

  test("of a generation or category that is gone leads to the nearest page that there is", async () => {
    for (const [target, nearest] of [
      ["/?region=ES&lang=en&cursor=999-24", "/?region=ES&lang=en"],
      ["/?region=ES&category=Gone&window=now&cursor=999-24", "/?region=ES&window=now&category=Gone"],
      ["/?region=ES&category=Gone&window=now", "/?region=ES&window=now"],
    ]) {
      const { status, headers } = await stack.edge.fetch(target ?? "", { redirect: "manual" });
      assert.deepEqual([status, headers.get("location")], [303, nearest]);
      assert.equal(headers.get("referrer-policy"), "no-referrer");
    }
    const origin = await stack.origin.fetch("/?region=ES&lang=en&cursor=999-24");
    assert.equal(((await origin.json()) as { restart: string }).restart, "/?region=ES&lang=en");
  });

  test("is the same with what sites add to the links that people share", async () => {
    const { status, headers } = await stack.edge.fetch("/?region=ES&utm_source=mail&fbclid=x&fbclid=y");
    assert.deepEqual([status, headers.get("content-location")], [200, "/?region=ES"]);
  });

  for (const target of ["/?lang=xx", "/?region=XX", "/?region=ES&region=PL"]) {
    test(`at ${target} is refused, without asking the origin`, async () => {
      stack.proxy.targets = [];
      assert.equal((await stack.edge.fetch(target)).status, 400);
      assert.deepEqual(stack.proxy.targets, []);
    });
  }

  test("loads assets that are kept for good and may be used by other sites, without asking the origin", async () => {
    stack.proxy.targets = [];
    for (const path of Object.values(assets).flat() as string[]) {
      const { status, headers } = await stack.edge.fetchFromOutside(path);
      assert.equal(status, 200, path);
      assert.equal(headers.get("cache-control"), "public, max-age=31536000, immutable");
      assert.equal(headers.get("access-control-allow-origin"), "*");
      assert.equal(headers.get("cross-origin-resource-policy"), "cross-origin");
      assert.equal(headers.get("x-content-type-options"), "nosniff");
    }
    const element = await stack.edge.fetchFromOutside("/assets/trendvault-list.js");
    assert.deepEqual([element.status, element.headers.get("cache-control")], [200, "public, max-age=300"]);
    assert.equal(element.headers.get("access-control-allow-origin"), "*");
    const worker = await stack.edge.fetchFromOutside("/service-worker.js");
    assert.deepEqual([worker.status, worker.headers.get("cache-control")], [200, "no-cache"]);
    assert.deepEqual(stack.proxy.targets, []);
  });

  test("of another version: its assets are asked of the origin, and are 404 when that has none", async () => {
    const path = "/assets/page-00000000.js";
    stack.proxy.targets = [];
    const response = await stack.edge.fetch(path);
    assert.deepEqual([response.status, stack.proxy.targets], [404, [path]]);
  });

  test("is served while the origin is down, also by a data centre that never saw it", async () => {
    await stack.edge.fetch("/?region=SE");
    const store = await stack.edge.fallbackStore();
    const list = async () => (await store.list()).keys.map(({ name }) => name);
    while (!(await list()).some((name) => name.endsWith("/SE/day/page"))) await sleep(20); // after the response
    const keys = await list();
    assert.ok(!keys.some((name) => name.endsWith("/SE/day")), "the page is no list");
    await stack.origin.kill();
    const [stored, other] = [await stack.edge.fetch("/?region=SE"), await stack.edge.fetch("/?region=DK")];
    assert.equal(stored.status, 200);
    assert.equal(other.status, 503);
    await stack.origin.start();
  });
});
