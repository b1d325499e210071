import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { PublicKeySet } from "@trendvault/contract/keys";
import { verifyResponse } from "@trendvault/contract/response-signature";
import { schemas } from "@trendvault/contract/responses";
import { bodyOnlyFields } from "@trendvault/contract/signature-base";
import type { DatabaseBuilder } from "@trendvault/kit/database";
import {
  askIn,
  closePublishedOrigin,
  openPublishedOrigin,
  openTestOrigin,
  type TestOrigin,
} from "@trendvault/kit/origin";
import { testEnvironment } from "@trendvault/kit/origin-process";
import { verifyIndependently } from "@trendvault/kit/verifiers";
import { createSigningKeys } from "../signing.ts";
import { endOfStep, finish, memoizedChooseEncoding, type SignedBuild } from "./representation.ts";

describe("representations", () => {
  let builder: DatabaseBuilder;
  let origin: TestOrigin;

  beforeEach(async () => {
    ({ builder, origin } = await openPublishedOrigin());
  });
  afterEach(() => closePublishedOrigin({ builder, origin }));

  test("each coding is the same JSON, smaller, with a strong entity tag of its own", async () => {
    const plain = await askIn(origin, "identity");
    const tags = new Set<string | null>();
    for (const encoding of ["br", "zstd", "gzip"]) {
      const coded = await askIn(origin, encoding);
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
    const etag = (await askIn(origin, "br")).headers.get("etag") ?? "";
    const ask = (encoding: string) =>
      origin.ask("/api/trending", { headers: { "accept-encoding": encoding, "if-none-match": etag } });
    expect((await ask("br")).status).toBe(304);
    expect((await ask("gzip")).status).toBe(200);
  });

  test("a client that refuses every coding gets 406", async () => {
    const response = await origin.ask("/api/trending", { headers: { "accept-encoding": "identity;q=0" } });
    expect([response.status, response.headers.get("vary")]).toEqual([406, "Accept-Encoding"]);
  });

  test("only an answer that was built for the request says how long that took", async () => {
    expect((await origin.ask("/api/trending")).headers.get("server-timing")).toMatch(/^build;dur=[0-9.]+$/);
    expect((await origin.ask("/api/trending")).headers.get("server-timing")).toBeNull();
  });

  test("HEAD has the fields of GET, on every path, but none that only a body can be held against", async () => {
    for (const target of [
      "/api/trending",
      "/api/regions",
      "/api/videos/video1",
      "/openapi.json",
      "/healthz",
    ]) {
      const [get, head] = [await origin.ask(target), await origin.ask(target, { method: "HEAD" })];
      for (const name of ["server-timing", ...bodyOnlyFields]) get.headers.delete(name);
      expect([head.status, head.headers]).toEqual([get.status, get.headers]);
    }
  });

  const anySite = { origin: "https://partner.example" };

  test.each([
    ["GET", "/api/trending", 200],
    ["HEAD", "/api/trending", 200],
    ["GET", "/api/regions", 200],
    ["GET", "/api/videos/video1", 200],
    ["GET", "/openapi.json", 200],
    ["GET", "/.well-known/jwks.json", 200],
    ["GET", "/problems/busy", 200],
    ["OPTIONS", "/api/trending", 204],
    ["GET", "/api/trending?x=1", 400],
    ["GET", "/api/videos/none", 404],
    ["GET", "/nothing", 404],
    ["POST", "/api/trending", 405],
    ["GET", "/api/trending?cursor=999-24", 410],
  ])("scripts of any site may read %s %s (%d), without credentials", async (method, target, status) => {
    const response = await origin.ask(target, { method, headers: anySite });
    expect(response.status).toBe(status);
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("access-control-expose-headers")).toContain(", ETag, ");
    expect(response.headers.get("timing-allow-origin")).toBe("*");
    expect(response.headers.has("access-control-allow-credentials")).toBe(false);
  });

  test("scripts of any site may make a conditional request, and need to ask for that once a day", async () => {
    const headers = {
      ...anySite,
      "access-control-request-method": "GET",
      "access-control-request-headers": "if-none-match",
    };
    const preflight = await origin.ask("/api/trending", { method: "OPTIONS", headers });
    expect(preflight.headers.get("access-control-allow-methods")).toBe("GET, HEAD, OPTIONS");
    expect(preflight.headers.get("access-control-allow-headers")).toBe("If-None-Match");
    expect(preflight.headers.get("access-control-max-age")).toBe("86400");
  });
});

describe("signatures", () => {
  let builder: DatabaseBuilder;
  let origin: TestOrigin;

  beforeEach(async () => {
    ({ builder, origin } = await openPublishedOrigin());
  });
  afterEach(() => closePublishedOrigin({ builder, origin }));

  async function publicKeys(): Promise<PublicKeySet> {
    return (await (await origin.ask("/.well-known/jwks.json")).json()) as PublicKeySet;
  }

  test.each(["identity", "br", "zstd", "gzip"])(
    "the signature of a body in %s verifies with the published key",
    async (encoding) => {
      const { status, headers, body } = await askIn(origin, encoding);
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

  test("everything that is signed names its question, and another implementation of RFC 9421 verifies it", async () => {
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
      const { status, headers, body } = await askIn(origin, "identity", target);
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

  test("an answer that stays the same is signed again before its signature is 15 minutes old, or of the future", async () => {
    const sign = async (target: string) => {
      const { status, headers, body } = await askIn(origin, "br", target);
      expect(await verifyResponse({ status, headers, body }, await publicKeys())).toBe("valid");
      const created = Number(/created=(\d+)/.exec(headers.get("signature-input") ?? "")?.[1]);
      return { created, etag: headers.get("etag") };
    };
    for (const target of ["/openapi.json", "/api/regions", "/api/videos/video1", "/problems/busy"]) {
      const first = await sign(target);
      let now = first.created;
      for (const seconds of [...Array.from({ length: 20 }, () => 60), -86_400, 60]) {
        origin.pass(seconds * 1000);
        now += seconds;
        const { created, etag } = await sign(target);
        expect([target, etag]).toEqual([target, first.etag]);
        expect(now - created).toBeWithin(0, 360);
      }
    }
  });

  test("the key of RFC 8032's first test vector is published as RFC 8037 writes it", async () => {
    const seed = Uint8Array.fromHex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
    const SIGNING_KEYS = seed.toBase64({ alphabet: "base64url", omitPadding: true });
    const { watcher, ask } = await openTestOrigin(builder.path, {
      SIGNING_KEYS: `${SIGNING_KEYS},${testEnvironment.SIGNING_KEYS}`,
    });
    const { keys } = schemas.PublicKeys.parse(await (await ask("/.well-known/jwks.json")).json());
    watcher.close();
    expect(keys.map(({ purpose }) => purpose)).toEqual(["responses", "responses", "tokens"]);
    expect(keys[0]).toEqual({
      kty: "OKP",
      crv: "Ed25519",
      kid: "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
      x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
      use: "sig",
      alg: "EdDSA",
      purpose: "responses",
    });
  });

  test("the type of a problem is the address of a signed page that explains it", async () => {
    const { type } = (await (await origin.ask("/api/videos/none")).json()) as { type: string };
    const { status, headers, body } = await askIn(origin, "br", type);
    expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(headers.get("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'");
    expect(new TextDecoder().decode(body)).toContain(
      "HTTP status 404, type <code>/problems/not-found</code>",
    );
    expect(await verifyResponse({ status, headers, body }, await publicKeys())).toBe("valid");
    const again = await origin.ask(type, {
      headers: { "accept-encoding": "br", "if-none-match": headers.get("etag") ?? "" },
    });
    expect(again.status).toBe(304);
    expect((await origin.ask("/problems/none")).status).toBe(404);
    expect((await origin.ask(`${type}?x=1`)).status).toBe(400);
  });
});

const bytes = new TextEncoder().encode("text");

function seed(byte: number): Uint8Array[] {
  return [Uint8Array.from({ length: 32 }, (_, index) => byte + index)];
}

function* buildInSteps(done: string[]): SignedBuild<string[]> {
  done.push("read");
  yield endOfStep;
  done.push("written");
  yield endOfStep;
  done.push("encoded");
  const signatures = [yield { purpose: "responses", bytes }, yield { purpose: "tokens", bytes }];
  done.push("signed");
  return signatures.map((signature) => signature.toHex());
}

const keys = await createSigningKeys({ responses: seed(1), tokens: seed(2) });
const signed = await Promise.all(
  [keys.responses, keys.tokens].map(async ({ sign }) => (await sign(bytes)).toHex()),
);

test("between two steps of a build the event loop has its turn", async () => {
  const turns: (() => void)[] = [];
  const yieldTurn = () => new Promise<void>((resolve) => turns.push(resolve));
  const done: string[] = [];
  const built = finish(buildInSteps(done), { keys, yieldTurn });
  for (const expected of ["read", "written"]) {
    await Bun.sleep(1);
    expect(done.at(-1)).toBe(expected);
    turns.shift()?.();
  }
  expect(await built).toEqual(signed);
  expect(turns).toEqual([]);
});

const encodings = ["identity", "br", "zstd", "gzip"]; // in the order of representations

test.each([
  [null, "identity"],
  ["", "identity"],
  ["gzip, deflate, br, zstd", "br"],
  ["gzip, deflate", "gzip"],
  ["zstd, gzip", "zstd"],
  ["br;q=0.5, gzip;q=0.9", "gzip"],
  ["br;q=0.5, gzip;q=0.5", "br"],
  ["BR", "br"],
  ["x-gzip", "gzip"],
  ["br ; q=1.000", "br"],
  ["*", "br"],
  ["*;q=0.5, gzip", "gzip"],
  ["br;q=0, *", "zstd"],
  ["deflate", "identity"],
  ["identity", "identity"],
  ["identity;q=1, br;q=0.5", "identity"],
  ["identity;q=0.5, br;q=0.5", "br"],
  ["br;q=0", "identity"],
  ["br;q=0.001", "br"],
  ["br;q=2", "identity"],
  ["br;q=1.1", "identity"],
  ["br;q=abc, gzip", "gzip"],
  ["identity;q=0, gzip", "gzip"],
  ["identity;q=0", null],
  ["*;q=0", null],
  ["*;q=0, identity;q=0.1", "identity"],
  ["deflate, identity;q=0", null],
  [",,, gzip ,", "gzip"],
])("Accept-Encoding %p is answered with %p", (header, expected) => {
  const choose = memoizedChooseEncoding();
  for (let times = 0; times < 2; times++) {
    const chosen = choose(header);
    expect(chosen === null ? null : (encodings[chosen] ?? "")).toBe(expected);
  }
});

test("of the requests that codings were chosen for, nothing else is kept", () => {
  const choose = memoizedChooseEncoding();
  const before = process.memoryUsage.rss();
  for (let index = 0; index < 64; index++) {
    const header = `gzip, deflate, zstd;q=0.1, br;q=0.${100 + index}`;
    const request = Buffer.from(header.padStart(4_000_000)).toString("latin1");
    choose(/gzip.*/.exec(request)?.[0] ?? "");
    Bun.gc(true);
  }
  expect(process.memoryUsage.rss() - before).toBeLessThan(150_000_000); // of 256
});

test("a flood of different headers does not change what is answered", () => {
  const choose = memoizedChooseEncoding(4);
  for (let i = 0; i < 100; i++) expect(choose(`br;q=0.${i}`)).toBe(i === 0 ? 0 : 1);
  expect(choose("identity;q=0")).toBeNull();
  expect(choose("identity;q=0")).toBeNull();
});
