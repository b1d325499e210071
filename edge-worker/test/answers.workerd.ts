import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { crossOriginFields } from "@trendvault/contract/http";
import { policies, workerPolicy } from "@trendvault/contract/page";
import { bodyOnlyFields } from "@trendvault/contract/signature-base";
import { Edge } from "@trendvault/kit/edge";
import { keySet } from "@trendvault/kit/keys";
import { root, until } from "@trendvault/kit/machine";
import { longLifetimes, withLifetimes } from "@trendvault/kit/origin-proxy";
import type { RecordedRequest, Recording } from "@trendvault/kit/recording-worker";
import { europeByRegion } from "@trendvault/kit/regions";
import type { Traffic, TrafficResult } from "@trendvault/kit/traffic-worker";
import { verifyIndependently } from "@trendvault/kit/verifiers";
import { originServes, startTestStack, type TestStack } from "./test-stack.ts";
import { counting, readList, signPullAt } from "./view-messages.ts";

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

  test("is signed as the origin's is, and another implementation of RFC 9421 verifies it", async () => {
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
    const exposed = "access-control-expose-headers";
    for (const path of [...paths, "/api/videos/unknown", "/.well-known/jwks.json"]) {
      const { headers } = await stack.edge.fetch(path, { headers: { origin: "https://partner.example" } });
      assert.equal(headers.get("access-control-allow-origin"), "*", path);
      assert.equal(headers.get(exposed), crossOriginFields[exposed], path);
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

// As fast as it goes. The first list of each region is stale as soon as it is fetched; the second one is fresh for longer
// than the test takes.
const requests = 33_000;
const rankedSecondsAgo = 3600;
const dataCentres = 3;
const regions = Object.keys(europeByRegion).slice(0, 5);
const places = Object.entries(europeByRegion)
  .slice(0, 5)
  .flatMap(([region, countries]) => countries.split(" ").map((country) => ({ country, region })));

describe("a day in miniature, in three data centres", () => {
  let stack: TestStack;
  let edges: Edge[] = [];
  before(async () => {
    stack = await startTestStack({}, rankedSecondsAgo);
    stack.proxy.behaviour = withLifetimes({ ...longLifetimes, maxAge: 0 });
    const others = Array.from({ length: dataCentres - 1 }, () => Edge.start(stack.proxy.url));
    edges = [stack.edge, ...(await Promise.all(others))];
  });
  after(async () => {
    await Promise.all(edges.slice(1).map((edge) => edge.close()));
    await stack.close();
  });

  test("brings the origin less than one request in a thousand: one a list, ranking and data centre", async (context) => {
    const cold = edges.flatMap((edge) => regions.map((region) => edge.runTraffic(oneFrom(region))));
    assert.ok((await Promise.all(cold)).every(({ wrong }) => wrong === 0));
    stack.database.publish();
    stack.proxy.behaviour = withLifetimes(longLifetimes);
    const lists = regions.map((region) => `/api/trending?region=${region}`);
    await originServes(stack, 2, lists);
    const results = await Promise.all(edges.map((edge, index) => edge.runTraffic(trafficOf(index))));
    const byCacheStatus = addUp(results);
    context.diagnostic(JSON.stringify(byCacheStatus));

    assert.ok(results.every(({ wrong }) => wrong === 0));
    assert.ok(requests / stack.proxy.targets.length > 1000);
    assert.equal(stack.proxy.targets.length, 2 * regions.length * dataCentres);
    assert.ok((byCacheStatus["trendvault; hit; detail=stale-while-revalidate"] ?? 0) > 0);
  });
});

function oneFrom(region: string): Traffic {
  return { ...common, requests: 1, concurrency: 1, clients: [{ country: region, region, share: 1 }] };
}

/** Zipf's law: the second most frequent country has half the clients of the first, the third a third. */
function trafficOf(dataCentre: number): Traffic {
  const ranked = [...places.slice(dataCentre * 7), ...places.slice(0, dataCentre * 7)]; // each has its own favourites
  const sum = ranked.reduce((total, _, index) => total + 1 / (index + 1), 0);
  const clients = ranked.map((place, index) => ({ ...place, share: 1 / (index + 1) / sum }));
  return { ...common, requests: requests / dataCentres, concurrency: 100, clients };
}

const common = { windows: [{ window: "day", share: 1 }] };

function addUp(results: TrafficResult[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const [kind, count] of results.flatMap(({ byCacheStatus }) => Object.entries(byCacheStatus))) {
    sum[kind] = (sum[kind] ?? 0) + count;
  }
  return sum;
}

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
    assert.equal(headers.get("content-security-policy"), `${policies.docs}; frame-ancestors 'none'`);
    assert.match(headers.get("cache-status") ?? "", /^trendvault; hit/);
  });

  test("says at /about how lists are made, under the same policy, and takes no parameters", async () => {
    const { status, headers } = await stack.edge.fetch("/about");
    assert.deepEqual([status, headers.get("content-location")], [200, "/about"]);
    assert.match(headers.get("content-security-policy") ?? "", /; frame-ancestors 'none'$/);
    assert.equal((await stack.edge.fetch("/about?region=ES")).status, 400);
  });

  test("of a generation, category or kind that is gone leads to the nearest page that there is", async () => {
    for (const [target, nearest] of [
      ["/?region=ES&lang=en&cursor=999-24", "/?region=ES&lang=en"],
      ["/?region=ES&category=Gone&window=now&cursor=999-24", "/?region=ES&window=now&category=Gone"],
      ["/?region=ES&category=Gone&window=now", "/?region=ES&window=now"],
      ["/?region=ES&live=now&lang=en", "/?region=ES&lang=en"],
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
    const icon = await stack.edge.fetchFromOutside("/favicon.ico");
    assert.deepEqual([icon.status, icon.headers.get("content-type")], [200, "image/svg+xml"]);
    assert.deepEqual(stack.proxy.targets, []);
  });

  test("of another version: its assets are asked of the origin, and are 404 when that has none", async () => {
    const path = "/assets/page-00000000.js";
    stack.proxy.targets = [];
    const response = await stack.edge.fetch(path);
    assert.deepEqual([response.status, stack.proxy.targets], [404, [path]]);
  });

  const accept = "text/html,application/xhtml+xml,*/*;q=0.8";
  const askAsPerson = async (target: string, languages: string) => {
    const response = await stack.edge.fetch(target, { headers: { accept, "accept-language": languages } });
    const [, title] = /<h1>(.*)<\/h1>/.exec(await response.text()) ?? [];
    return { title, status: response.status, field: (name: string) => response.headers.get(name) };
  };

  test("of a person who goes wrong is one in a language of their browser, and a program sees a problem", async () => {
    for (const [target, languages, status, title] of [
      ["/nothing", "xx, en;q=0.8, de-AT;q=0.9", 404, "Hier ist nichts"],
      ["/?region=XX", "", 400, "This address is not understood"],
      ["/assets/page-00000000.js", "ar", 404, "لا شيء هنا"],
      ["/feeds/ES.atom?x=1", "zh-DE,pl", 400, "Ten adres jest niezrozumiały"],
      ["/embed?region=XX", "de", 400, "Diese Adresse ist nicht verständlich"],
    ] as const) {
      const page = await askAsPerson(target, languages);
      assert.deepEqual([page.status, page.title], [status, title], target);
      assert.equal(page.field("content-type"), "text/html; charset=utf-8");
      const policy = page.field("content-security-policy") ?? "";
      assert.match(policy, /^default-src 'none'; script-src 'self'/);
      assert.equal(policy.includes("frame-ancestors"), !target.startsWith("/embed"));
      assert.deepEqual([page.field("cache-control"), page.field("signature")], ["no-store", null]);
      assert.equal(page.field("vary"), "Accept, Accept-Language");
      for (const others of ["*/*", "text/html;q=0, */*"]) {
        const problem = await stack.edge.fetch(target, { headers: { accept: others } });
        assert.equal(problem.headers.get("content-type"), "application/problem+json");
        assert.equal(problem.headers.get("vary"), "Accept");
      }
    }
    const api = await askAsPerson("/api/nothing", "de");
    assert.deepEqual([api.field("content-type"), api.field("vary")], ["application/problem+json", null]);
  });

  test("of a person who goes wrong is at no address of its own", async () => {
    for (const sentence of [400, 404, 503]) {
      const response = await stack.edge.fetchFromOutside(`/failures/${sentence}-de.html`);
      const { type } = (await response.json()) as { type: string };
      assert.deepEqual([response.status, type], [404, "/problems/not-found"]);
    }
  });

  test("is served while the origin is down, also by a data centre that never saw it", async () => {
    await stack.edge.fetch("/?region=SE");
    const store = await stack.edge.fallbackStore();
    const list = async () => (await store.list()).keys.map(({ name }) => name);
    await until(async () => (await list()).some((name) => name.endsWith("/SE/day/page"))); // after the response
    const keys = await list();
    assert.ok(!keys.some((name) => name.endsWith("/SE/day")), "the page is no list");
    await stack.origin.kill();
    const [stored, other] = [await stack.edge.fetch("/?region=SE"), await stack.edge.fetch("/?region=DK")];
    assert.equal(stored.status, 200);
    assert.equal(other.status, 503);
    const person = await askAsPerson("/?region=DK", "sv");
    assert.deepEqual([person.status, person.title], [503, "Det kan inte visas just nu"]);
    assert.equal(person.field("retry-after"), "5");
    await stack.origin.start();
  });
});

// What a browser and Cloudflare tell about a visitor, each with a value that is easy to find again.
const headers = {
  "cf-connecting-ip": "2001:db8:1:2:3:4:5:6",
  "x-forwarded-for": "visitor-forwarded",
  "user-agent": "visitor-agent",
  "accept-language": "visitor-language",
  authorization: "visitor-authorization",
  cookie: "visitor=cookie",
  referer: "https://visitor.example/",
  "if-none-match": '"visitor-tag"',
  accept: "visitor/accept",
  traceparent: `00-${"beef".repeat(8)}-${"beef".repeat(4)}-01`,
  tracestate: "visitor=state",
  baggage: "visitor=baggage",
};
const cf = { country: "DE", city: "visitor-city", asn: 64_500, latitude: "visitor-latitude" };

const always = ["method", "url"];
const lists = ["cf.country", "headers.get(if-none-match)", ...always];
const miss = ["cf.country", "headers.get(cf-connecting-ip)", "headers.get(if-none-match)", ...always];

describe("of a request the edge reads", () => {
  let stack: TestStack;
  let plain: Edge; // for lists: one that counts works on for 20 s after it has served one, which a recording waits for
  before(async () => {
    stack = await startTestStack(counting);
    stack.proxy.behaviour = withLifetimes(longLifetimes);
    plain = await Edge.start(stack.proxy.url);
  });
  after(async () => {
    await plain.close();
    await stack.close();
  });

  type Options = Partial<Omit<RecordedRequest, "target">>;
  async function record(target: string, options: Options = {}): Promise<Recording> {
    const sent = { ...headers, ...options.headers };
    const edge = target.startsWith("/api/views") ? stack.edge : plain;
    const [recording] = await edge.record([{ target, cf, ...options, headers: sent }]);
    assert.ok(recording);
    return recording;
  }

  test("URL, method, country and If-None-Match; on a miss the address as well, and counts its network", async () => {
    const first = await record("/api/trending");
    assert.deepEqual([first.status, first.reads], [200, miss]);
    assert.deepEqual(first.limiterKeys, ["2001:db8:1:2"]);
    for (const method of ["GET", "HEAD"]) {
      const again = await record("/api/trending", { method });
      assert.deepEqual([again.status, again.reads, again.limiterKeys], [200, lists, []], method);
    }
  });

  test("no more for a document", async () => {
    assert.deepEqual((await record("/api/regions")).reads, miss);
    assert.deepEqual((await record("/api/regions")).reads, lists);
  });

  const refused: [string, string, number, string[]][] = [
    ["OPTIONS", "/api/trending", 204, always],
    ["POST", "/api/trending", 405, always],
    ["GET", "/nothing", 404, ["headers.get(accept)", "url"]],
    ["GET", `/api/trending?category=${"a".repeat(2100)}`, 414, ["url"]],
    ["GET", "/problems/not-found", 200, miss],
    ["GET", "/api/trending?x=1", 400, ["cf.country", ...always]],
  ];
  for (const [method, target, status, reads] of refused) {
    test(`only ${reads.join(", ")} for ${method} ${target.slice(0, 30)}`, async () => {
      const recording = await record(target, { method });
      assert.deepEqual([recording.status, recording.reads], [status, reads]);
    });
  }

  test("of a person who goes wrong the languages, too", async () => {
    const { status, reads } = await record("/nothing", { headers: { accept: "text/html" } });
    assert.deepEqual([status, reads], [404, ["headers.get(accept)", "headers.get(accept-language)", "url"]]);
  });

  test("the address, when the rate limiter refuses the miss, and asks nobody else", async () => {
    stack.proxy.targets = [];
    const recording = await record("/api/trending?region=FR&limit=7", { allowed: false });
    assert.equal(recording.status, 429);
    assert.deepEqual(
      recording.reads,
      miss.filter((read) => read !== "headers.get(if-none-match)"),
    );
    assert.deepEqual(stack.proxy.targets, []);
  });

  const body = ["body.getReader()", "headers.get(content-length)"];
  const message = ["headers.get(cf-connecting-ip)", "headers.get(content-type)", ...body, ...always].sort();
  const post = { method: "POST", headers: { "content-type": "text/plain" } };

  test("about a list only its body, type and length; and the address, which it counts the network of", async () => {
    const { token } = await readList(stack.edge, "/api/trending?region=SE");
    const sent = JSON.stringify({ token, seen: 2, opened: [1] });
    await record("/api/views", { ...post, body: sent }); // the first asks the origin for the list
    const recording = await record("/api/views", { ...post, body: sent });
    assert.deepEqual([recording.status, recording.reads], [204, message]);
    const keys = ["2001:db8:1:2", "2001:db8:1", `2001:db8:1:2 ${token.slice(-32)}`];
    assert.deepEqual(recording.limiterKeys, keys);
  });

  test("about a list not even the body, when the rate limiter refuses it", async () => {
    const recording = await record("/api/views", { ...post, body: "{}", allowed: false });
    assert.equal(recording.status, 429);
    assert.deepEqual(
      recording.reads,
      message.filter((read) => !body.includes(read)),
    );
  });

  test("about a list nothing more, when its type is refused or it is a preflight", async () => {
    const wrong = await record("/api/views", {
      ...post,
      headers: { "content-type": "text/html" },
      body: "{}",
    });
    assert.deepEqual([wrong.status, wrong.reads], [415, ["headers.get(content-type)", ...always]]);
    const preflight = await record("/api/views", { method: "OPTIONS" });
    assert.deepEqual([preflight.status, preflight.reads], [204, always]);
  });

  test("of a writer that pulls only its signature", async () => {
    const target = "/api/views/minutes?shard=SE-0";
    const signed = { ...signPullAt(Math.floor(Date.now() / 1000), target) };
    const recording = await record(target, { headers: signed });
    const reads = ["headers.get(signature)", "headers.get(signature-input)", ...always];
    assert.deepEqual([recording.status, recording.reads, recording.limiterKeys], [200, reads, []]);
  });

  test("and sends the origin nothing of it but the canonical target", () => {
    assert.ok(stack.proxy.headers.length > 0);
    for (const sent of stack.proxy.headers) {
      assert.ok(sent["x-edge-signature"]);
      assert.doesNotMatch(JSON.stringify(sent), /visitor|2001:db8|beefbeef/);
      assert.match(String(sent.traceparent), /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    }
    const traces = stack.proxy.headers.map(({ traceparent }) => traceparent);
    assert.equal(new Set(traces).size, traces.length, "a trace of its own for each request");
  });
});
