import { afterEach, beforeEach, expect, test } from "bun:test";
import { brotliDecompressSync } from "node:zlib";
import { type PublicKeySet, verifyResponse } from "@trendvault/contract/response-signature";
import { PublicKeys, RegionList, TrendingPage, Video } from "@trendvault/contract/responses";
import { bodyOnlyFields } from "@trendvault/contract/signature-base";
import { verifyIndependently } from "@trendvault/contract/test-support/independent-verifiers";
import { DatabaseBuilder, videos } from "../../test-support/database-builder.ts";
import { openTestOrigin, type TestOrigin, testEnvironment } from "../../test-support/test-origin.ts";
import { until } from "../../test-support/until.ts";

let builder: DatabaseBuilder;
let origin: TestOrigin;

beforeEach(async () => {
  builder = new DatabaseBuilder();
  builder.publish([
    { region: "GB", videos: videos(30) },
    { region: "DE", window: "now", videos: videos(3) },
    { region: "DE", category: "Music", videos: videos(2) },
  ]);
  origin = await openTestOrigin(builder.path);
});
afterEach(() => {
  origin.watcher.close();
  builder.remove();
});

const decoders: Record<string, (bytes: Uint8Array<ArrayBuffer>) => Uint8Array> = {
  identity: (bytes) => bytes,
  br: brotliDecompressSync,
  zstd: Bun.zstdDecompressSync,
  gzip: Bun.gunzipSync,
};

async function askIn(encoding: string, target = "/api/trending") {
  const response = await origin.ask(target, { headers: { "accept-encoding": encoding } });
  const coded = new Uint8Array(await response.arrayBuffer());
  const body = new Uint8Array(decoders[encoding]?.(coded) ?? []);
  return { ...response, status: response.status, headers: response.headers, coded, body };
}

async function publicKeys(): Promise<PublicKeySet> {
  return (await (await origin.ask("/.well-known/jwks.json")).json()) as PublicKeySet;
}

test("each coding is the same JSON, smaller, with a strong entity tag of its own", async () => {
  const plain = await askIn("identity");
  const tags = new Set<string | null>();
  for (const encoding of ["br", "zstd", "gzip"]) {
    const coded = await askIn(encoding);
    expect(coded.headers.get("content-encoding")).toBe(encoding);
    expect(coded.coded.length).toBeLessThan(plain.coded.length / 2);
    expect(coded.body).toEqual(plain.body);
    expect(coded.headers.get("unencoded-digest")).toBe(plain.headers.get("unencoded-digest"));
    tags.add(coded.headers.get("etag"));
  }
  expect(plain.headers.get("content-encoding")).toBeNull();
  expect(tags.add(plain.headers.get("etag")).size).toBe(4);
});

test("an entity tag of one coding does not answer for another", async () => {
  const etag = (await askIn("br")).headers.get("etag") ?? "";
  const ask = (encoding: string) =>
    origin.ask("/api/trending", { headers: { "accept-encoding": encoding, "if-none-match": etag } });
  expect((await ask("br")).status).toBe(304);
  expect((await ask("gzip")).status).toBe(200);
});

test("a client that refuses every coding gets 406", async () => {
  const response = await origin.ask("/api/trending", { headers: { "accept-encoding": "identity;q=0" } });
  expect([response.status, response.headers.get("vary")]).toEqual([406, "Accept-Encoding"]);
});

test.each(["identity", "br", "zstd", "gzip"])(
  "the signature of a body in %s verifies with the published key",
  async (encoding) => {
    const { status, headers, body } = await askIn(encoding);
    const keys = await publicKeys();
    expect(await verifyResponse({ status, headers, body }, keys)).toBe("valid");
    expect(await verifyResponse({ status: 203, headers, body }, keys)).toBe("signature-differs");
    expect(await verifyResponse({ status, headers, body: body.slice(1) }, keys)).toBe("digest-differs");
    expect(await verifyResponse({ status, headers, body }, { keys: [] })).toBe("unknown-key");
    for (const name of ["etag", "content-type", "content-location", "trendvault-cache-control"]) {
      const changed = new Headers(headers);
      changed.set(name, '"other"');
      expect(await verifyResponse({ status, headers: changed, body }, keys)).toBe("signature-differs");
    }
    headers.delete("signature");
    expect(await verifyResponse({ status, headers, body }, keys)).toBe("unsigned");
  },
);

test("everything that is signed names its question, and other implementations of RFC 9421 verify it", async () => {
  const keys = await publicKeys();
  const targets = ["/api/trending?region=GB", "/api/trending?region=DE&category=Music&limit=1"];
  const documents = ["/api/videos/video1", "/api/regions", "/openapi.json", "/.well-known/jwks.json"];
  for (const target of [...targets, ...documents, "/problems/not-found"]) {
    const { status, headers } = await origin.ask(target);
    expect([target, headers.get("content-location")]).toEqual([target, target]);
    await verifyIndependently({ status, headers }, keys);
  }
});

test("that a video or a page does not exist is signed as well, for this address and a minute", async () => {
  const keys = await publicKeys();
  const refused = [
    ["/api/videos/none", "No such video."],
    ["/api/trending?region=GB&cursor=1-48", "The list ends before this page."],
    ["/api/trending?region=CZ&limit=1&cursor=1-1", "The list ends before this page."],
  ];
  for (const [target = "", detail] of refused) {
    const { status, headers, body } = await askIn("identity", target);
    expect([target, status, JSON.parse(new TextDecoder().decode(body)).detail]).toEqual([
      target,
      404,
      detail,
    ]);
    expect(await verifyResponse({ status, headers, body }, keys)).toBe("valid");
    await verifyIndependently({ status, headers }, keys);
    expect(headers.get("content-location")).toBe(target);
    expect(headers.get("trendvault-cache-control")).toBe("max-age=60");
    expect(headers.get("cache-control")).toBe("no-store");
    const head = await origin.ask(target, { method: "HEAD" });
    for (const name of bodyOnlyFields) expect([head.status, head.headers.get(name)]).toEqual([404, null]);
    const matching = await origin.ask(target, { headers: { "if-none-match": "*" } });
    expect(matching.status).toBe(404);
  }
});

test("the regions say which generations are kept", async () => {
  const expectKept = (kept: { generation: number; oldest_generation: number }) =>
    until(async () => {
      origin.pass(50);
      return Bun.deepMatch(kept, await (await origin.ask("/api/regions")).json());
    });
  await expectKept({ generation: 1, oldest_generation: 1 });
  builder.publish([]);
  await expectKept({ generation: 2, oldest_generation: 1 });
  builder.prune(1);
  await expectKept({ generation: 2, oldest_generation: 2 });
});

test("an answer that stays the same is signed again before its signature is 15 minutes old", async () => {
  const sign = async (target: string) => {
    const { status, headers, body } = await askIn("br", target);
    expect(await verifyResponse({ status, headers, body }, await publicKeys())).toBe("valid");
    const created = Number(/created=(\d+)/.exec(headers.get("signature-input") ?? "")?.[1]);
    return { created, etag: headers.get("etag") };
  };
  for (const target of ["/openapi.json", "/api/regions", "/api/videos/video1", "/problems/busy"]) {
    const first = await sign(target);
    let now = first.created;
    for (let minute = 0; minute < 20; minute++) {
      origin.pass(60_000);
      now += 60;
      const { created, etag } = await sign(target);
      expect([target, etag, now - created < 360]).toEqual([target, first.etag, true]);
    }
  }
});

test("the key of RFC 8032's first test vector is published as RFC 8037 writes it", async () => {
  const seed = Uint8Array.fromHex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
  const SIGNING_KEY = seed.toBase64({ alphabet: "base64url", omitPadding: true });
  const { watcher, ask } = await openTestOrigin(builder.path, {
    SIGNING_KEY: `${SIGNING_KEY},${testEnvironment.SIGNING_KEY}`,
  });
  const { keys } = PublicKeys.parse(await (await ask("/.well-known/jwks.json")).json());
  watcher.close();
  expect(keys).toHaveLength(2);
  expect(keys[0]).toEqual({
    kty: "OKP",
    crv: "Ed25519",
    kid: "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
    x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
  });
});

test("answers are what the schemas of the description say", async () => {
  const json = async (target: string) => (await origin.ask(target)).json();
  TrendingPage.parse(await json("/api/trending"));
  TrendingPage.parse(await json("/api/trending?region=DE&category=Music"));
  TrendingPage.parse(await json("/api/trending?region=CZ"));
  Video.parse(await json("/api/videos/video1"));
  RegionList.parse(await json("/api/regions"));
  PublicKeys.parse(await json("/.well-known/jwks.json"));
  expect(await json("/openapi.json")).toHaveProperty("openapi", "3.1.0");
});

test("only an answer that was built for the request says how long that took", async () => {
  expect((await origin.ask("/api/trending")).headers.get("server-timing")).toMatch(/^build;dur=[0-9.]+$/);
  expect((await origin.ask("/api/trending")).headers.get("server-timing")).toBeNull();
});

test("HEAD has the fields of GET, on every path, but none that only a body can be held against", async () => {
  for (const target of ["/api/trending", "/api/regions", "/api/videos/video1", "/openapi.json", "/healthz"]) {
    const [get, head] = [await origin.ask(target), await origin.ask(target, { method: "HEAD" })];
    for (const name of ["server-timing", ...bodyOnlyFields]) get.headers.delete(name);
    expect([head.status, head.headers]).toEqual([get.status, get.headers]);
  }
});

test("any site's scripts may read answers, entity tags and links, without credentials", async () => {
  const { headers } = await origin.ask("/api/trending", { headers: { origin: "https://partner.example" } });
  expect(headers.get("access-control-allow-origin")).toBe("*");
  expect(headers.get("access-control-expose-headers")).toBe("ETag, Link");
  expect(headers.has("access-control-allow-credentials")).toBe(false);
  const preflight = await origin.ask("/api/trending", { method: "OPTIONS" });
  expect(preflight.headers.get("access-control-allow-methods")).toBe("GET, HEAD, OPTIONS");
  expect(preflight.headers.get("access-control-allow-headers")).toBe("If-None-Match");
});

test("a video says where it trends and how its views grew, newest first", async () => {
  builder.observe("video2", "GB", [
    [1000, 10],
    [2000, 25],
  ]);
  // Came late: it is not in the chain.
  builder.database.run(
    "INSERT INTO observations (observed_at, region, video_id, views) VALUES (1500, 'GB', 'video2', 99)",
  );
  const video = (await (await origin.ask("/api/videos/video2")).json()) as Record<string, unknown>;
  expect(video.trending).toEqual([
    { region: "DE", window: "day", category: "Music", rank: 2, score: 1000 },
    { region: "DE", window: "now", category: null, rank: 2, score: 2000.1 },
    { region: "GB", window: "day", category: null, rank: 2, score: 29001.2 },
  ]);
  expect(video.history).toEqual([
    {
      region: "GB",
      observations: [
        { observed_at: "1970-01-01T00:33:20Z", views: 25 },
        { observed_at: "1970-01-01T00:16:40Z", views: 10 },
      ],
    },
  ]);
});

test.each([
  "/api/videos/none",
  "/api/videos/",
  "/api/videos/%zz",
  "/api/videos/%00",
  `/api/videos/${"x".repeat(65)}`,
  "/api/videos/a/b",
])("%s is 404", async (target) => {
  expect((await origin.ask(target)).status).toBe(404);
});

test("parameters where there are none are refused", async () => {
  for (const target of ["/api/regions?x=1", "/api/videos/video1?a", "/openapi.json?v=2"]) {
    expect((await origin.ask(target)).status).toBe(400);
  }
});

test("a path and query of more than 2048 characters are 414", async () => {
  expect((await origin.ask(`/api/trending?region=${"G".repeat(2100)}`)).status).toBe(414);
});

test("an unexpected failure is 500 with an id that leads to the log, and nothing else", async () => {
  origin.lists.readVideo = () => {
    throw new Error("readVideo is broken");
  };
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const request = new Request("http://origin.test/api/videos/video1?", { headers: { traceparent } });
  const response = await origin.handler.answer(request);
  const problem = (await response.json()) as { instance: string };
  expect(response.status).toBe(500);
  expect(JSON.stringify(problem)).not.toContain("readVideo");
  const [logged] = origin.logged;
  expect(logged?.facts.trace_id).toBe("4bf92f3577b34da6a3ce929d0e0e4736");
  expect(`urn:uuid:${logged?.facts.request_id}`).toBe(problem.instance);
});

test("the type of a problem is the address of a signed page that explains it", async () => {
  const { type } = (await (await origin.ask("/api/videos/none")).json()) as { type: string };
  const { status, headers, body } = await askIn("br", type);
  expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect(new TextDecoder().decode(body)).toContain("HTTP status 404, type <code>/problems/not-found</code>");
  expect(await verifyResponse({ status, headers, body }, await publicKeys())).toBe("valid");
  const again = await origin.ask(type, {
    headers: { "accept-encoding": "br", "if-none-match": headers.get("etag") ?? "" },
  });
  expect(again.status).toBe(304);
  expect((await origin.ask("/problems/none")).status).toBe(404);
  expect((await origin.ask(`${type}?x=1`)).status).toBe(400);
});
