import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { exposedFields } from "@trendvault/contract/http";
import { bodyOnlyFields } from "@trendvault/contract/signature-base";
import { verifyIndependently } from "@trendvault/contract/test-support/independent-verifiers";
import { keySet } from "./keys.ts";
import { longLifetimes, withLifetimes } from "./lifetimes.ts";
import { startTestStack, type TestStack } from "./test-stack.ts";

/** Headers of the connection, or about how one of the two works. */
const ownHeaders = new Set(["connection", "content-length", "date", "keep-alive", "server-timing"]);

const browserLifetimes = /^public, max-age=\d+, stale-while-revalidate=60$/;

describe("a response of the edge", () => {
  let stack: TestStack;
  before(async () => {
    stack = await startTestStack();
    stack.proxy.behaviour = withLifetimes(longLifetimes);
  });
  after(() => stack.close());

  const target = "/api/trending?region=ES&limit=5";
  const get = (headers: Record<string, string> = {}) => stack.edge.fetch(target, { headers });

  test("is signed as the origin's is, and other implementations of RFC 9421 verify it", async () => {
    for (const path of [
      target,
      "/api/regions",
      "/openapi.json",
      "/.well-known/jwks.json",
      "/api/videos/es-3",
      "/api/export/ES.ndjson",
    ]) {
      const response = await stack.edge.fetch(path, { headers: { "accept-encoding": "identity" } });
      const { status, headers } = response;
      assert.equal(headers.get("content-location"), path);
      await verifyIndependently({ status, headers: new Headers([...headers]) }, JSON.parse(keySet));
    }
  });

  test("can be checked like the origin's: it has its entity tag, digest, signature and links", async () => {
    const response = await get({ "accept-encoding": "identity" });
    const body = await response.text();
    const digest = Buffer.from(await crypto.subtle.digest("SHA-256", Buffer.from(body))).toString("base64");
    assert.equal(response.headers.get("unencoded-digest"), `sha-256=:${digest}:`);
    assert.match(
      response.headers.get("signature-input") ?? "",
      /"@status" "content-type" "unencoded-digest" "etag" "content-location" "trendvault-cache-control"/,
    );
    assert.match(response.headers.get("signature") ?? "", /^tv=:/);
    assert.equal(response.headers.get("link"), `<${JSON.parse(body).next}>; rel="next"`);
  });

  test("tells its age and how it was found", async () => {
    const response = await get();
    assert.match(response.headers.get("age") ?? "", /^\d+$/);
    assert.match(response.headers.get("cache-status") ?? "", /^trendvault; hit; ttl=\d+$/);
    assert.match(response.headers.get("server-timing") ?? "", /^edge$/);
    assert.equal(response.headers.get("cdn-cache-control"), null, "meant for the edge alone");
  });

  test("gives a browser nothing to run, guess or leak", async () => {
    const { headers } = await get();
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.equal(headers.get("content-security-policy"), "default-src 'none'; frame-ancestors 'none'");
    assert.equal(headers.get("referrer-policy"), "no-referrer");
    assert.equal(headers.get("set-cookie"), null);
  });

  test("is 304 without a body when the client has it", async () => {
    const etag = (await get()).headers.get("etag") ?? "";
    for (const ifNoneMatch of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const response = await get({ "if-none-match": ifNoneMatch });
      assert.equal(response.status, 304, ifNoneMatch);
      assert.equal(response.headers.get("etag"), etag);
      assert.equal(response.headers.get("content-location"), target);
      assert.match(response.headers.get("cache-control") ?? "", browserLifetimes);
      for (const name of bodyOnlyFields) assert.equal(response.headers.get(name), null, name);
      assert.equal(await response.text(), "");
    }
    for (const ifNoneMatch of ['"other"', '"a,*,b"']) {
      assert.equal((await get({ "if-none-match": ifNoneMatch })).status, 200, ifNoneMatch);
    }
  });

  test("to a category with an apostrophe is its list, however the client writes it", async () => {
    for (const category of ["Kids' TV", "Kids%27%20TV", "Kids'+TV"]) {
      const response = await stack.edge.fetch(`/api/trending?region=GB&category=${category}`);
      assert.deepEqual([response.status, JSON.parse(await response.text()).category], [200, "Kids' TV"]);
    }
  });

  test("to HEAD has the headers of GET, its length, and nothing that a browser would hold against the missing body", async () => {
    const [head, whole] = [await stack.edge.fetch(target, { method: "HEAD" }), await get()];
    assert.equal(head.status, 200);
    assert.equal(await head.text(), "");
    for (const name of ["etag", "content-type", "content-location", "link", "vary"]) {
      assert.equal(head.headers.get(name), whole.headers.get(name), name);
    }
    for (const name of bodyOnlyFields) assert.equal(head.headers.get(name), null, name);
    const { length } = Buffer.from(await whole.arrayBuffer());
    assert.equal(head.headers.get("content-length"), String(length));
  });

  const parity: [string, string, number][] = [
    ["OPTIONS", target, 204],
    ["OPTIONS", "/nothing", 404],
    ["POST", target, 405],
    ["PUT", target, 405],
    ["DELETE", "/api/regions", 405],
    ["GET", "/nothing", 404],
    ["GET", "/api/trending/", 404],
    ["GET", "/api/trending?x=1&region=US", 400],
    ["GET", "/api/trending?limit=51", 400],
    ["GET", "/api/regions?x=1", 400],
    ["GET", `/api/trending?category=${"a".repeat(2100)}`, 414],
    ["OPTIONS", "/problems/not-found", 204],
    ["POST", "/problems/not-found", 405],
    ["GET", "/problems/not-found?x=1", 400],
    ["GET", "/problems/unheard-of", 404],
    ["GET", "/problems/", 404],
    ["POST", "/problems/unheard-of", 404],
    ["OPTIONS", "/api/videos/x%20y", 404],
    ["GET", "/api/videos/a%2Fb", 404],
    ["POST", "/api/videos/a%3Ab", 405],
    ["GET", `/api/trending?${"a".repeat(2048 - "/api/trending?".length)}`, 400],
    ["GET", `/api/trending?${"a".repeat(2049 - "/api/trending?".length)}`, 414],
  ];
  for (const [method, path, status] of parity) {
    test(`to ${method} ${path.slice(0, 40)} is what the origin says, without asking it`, async () => {
      stack.proxy.targets = [];
      const [edge, origin] = [
        await stack.edge.fetch(path, { method }),
        await stack.origin.fetch(path, method),
      ];
      assert.equal(edge.status, status);
      assert.deepEqual(withoutDetail(await edge.text()), withoutDetail(await origin.text()));
      for (const [name, value] of origin.headers) {
        if (ownHeaders.has(name)) continue;
        assert.equal(edge.headers.get(name), value, name);
      }
      assert.deepEqual([edge.status, stack.proxy.targets], [origin.status, []]);
    });
  }

  test("whose body is a problem names a type with a page, which is the origin's and may run nothing", async () => {
    const { type } = (await (await stack.edge.fetch("/api/trending?x=1")).json()) as { type: string };
    const [page, head] = [await stack.edge.fetch(type), await stack.edge.fetch(type, { method: "HEAD" })];
    const originPage = await stack.origin.fetch(type);
    assert.equal(await page.text(), await originPage.text());
    assert.equal(await head.text(), "");
    for (const { status, headers } of [page, head]) {
      assert.equal(status, 200);
      assert.equal(headers.get("content-type"), originPage.headers.get("content-type"));
      assert.equal(headers.get("content-security-policy"), "default-src 'none'; frame-ancestors 'none'");
    }
  });

  test("is readable by any site, errors too", async () => {
    const paths = [
      target,
      "/api/regions",
      "/openapi.json",
      "/api/trending?x=1",
      "/nothing",
      "/problems/busy",
    ];
    for (const path of [...paths, "/api/videos/unknown", "/.well-known/jwks.json"]) {
      const { headers } = await stack.edge.fetch(path, { headers: { origin: "https://partner.example" } });
      assert.equal(headers.get("access-control-allow-origin"), "*", path);
      assert.equal(headers.get("access-control-expose-headers"), exposedFields.join(", "), path);
      assert.equal(headers.get("access-control-allow-credentials"), null, path);
      assert.equal(headers.get("timing-allow-origin"), "*", path);
    }
  });

  test("to a cursor whose generation is gone is 410, with where to start again, without asking the origin", async () => {
    await stack.edge.fetch("/api/regions");
    stack.proxy.targets = [];
    const path = "/api/trending?region=ES&cursor=999-24";
    const [response, origin] = [await stack.edge.fetch(path), await stack.origin.fetch(path)];
    assert.equal(response.status, 410);
    const problem = (await response.json()) as { restart: string };
    assert.equal(problem.restart, "/api/trending?region=ES");
    assert.deepEqual(problem, await origin.json());
    assert.ok(stack.proxy.targets.every((asked) => asked === "/api/regions"));
  });

  test("that something does not exist is the origin's, signed, and asked for once", async () => {
    for (const path of ["/api/videos/none", "/api/trending?region=ES&cursor=1-48"]) {
      stack.proxy.targets = [];
      for (const method of ["GET", "GET", "HEAD"]) {
        const response = await stack.edge.fetch(path, { method, headers: { "accept-encoding": "identity" } });
        const { status, headers } = response;
        assert.deepEqual([status, headers.get("cache-control")], [404, "no-store"]);
        assert.equal(headers.get("content-type"), "application/problem+json");
        if (method === "HEAD") assert.equal(headers.get("signature"), null);
        else await verifyIndependently({ status, headers: new Headers([...headers]) }, JSON.parse(keySet));
      }
      assert.deepEqual(
        stack.proxy.targets.filter((asked) => asked !== "/api/regions"),
        [path],
      );
    }
  });

  test("gives the other documents too, from the cache the second time", async () => {
    for (const path of ["/api/regions", "/openapi.json", "/.well-known/jwks.json", "/api/videos/es-3"]) {
      const first = await stack.edge.fetch(path);
      assert.equal(first.status, 200, path);
      assert.ok(stack.proxy.bodies.get(path)?.has(await first.text()), path);
      assert.match(
        (await stack.edge.fetch(path)).headers.get("cache-status") ?? "",
        /^trendvault; hit/,
        path,
      );
    }
    assert.equal((await stack.edge.fetch("/api/videos/none")).status, 404);
  });
});

/** A problem as clients compare it: `detail` is for people. */
function withoutDetail(body: string): object | null {
  return body === "" ? null : { ...JSON.parse(body), detail: "" };
}
