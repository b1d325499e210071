import { beforeAll, describe, expect, test } from "bun:test";
import { toBase64url } from "@trendvault/contract/base64url";
import {
  type PublicKeySet,
  signatureBase,
  signatureParameters,
  unencodedDigest,
} from "@trendvault/contract/response-signature";
import type { Ask } from "./ask.ts";
import type { Copy } from "./copy.ts";
import type { OriginAnswer } from "./origin.ts";
import { type Circumstances, judge } from "./storable.ts";

const now = 1_795_176_030;
const ask: Ask = {
  target: "/api/trending?region=DE",
  query: { region: "DE", window: "day", limit: 24 },
  placed: true,
};
const list = {
  region: "DE",
  window: "day",
  category: null,
  generation: 7,
  generated_at: "2026-11-20T12:00:00Z",
  count: 2,
  token: `v1.k1.DE.2.${Math.floor(now / 60)}.${"A".repeat(22)}`,
};
const generatedAt = Date.parse(list.generated_at) / 1000;

let pair: CryptoKeyPair;
let keys: PublicKeySet;
beforeAll(async () => {
  pair = (await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"])) as CryptoKeyPair;
  const publicKey = new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey));
  keys = { keys: [{ kty: "OKP", crv: "Ed25519", kid: "s1", x: toBase64url(publicKey) }] };
});

/** A good answer, signed after `headers` have replaced its own. */
async function answerWith(body: unknown = list, headers: Record<string, string> = {}): Promise<OriginAnswer> {
  const bytes = new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body));
  const fields = {
    "content-type": headers["content-type"] ?? "application/json",
    "unencoded-digest": await unencodedDigest(bytes),
    etag: '"abc"',
  };
  const parameters = signatureParameters({ kid: "s1", created: now });
  const base = new TextEncoder().encode(signatureBase({ status: 200, fields }, parameters));
  const signature = new Uint8Array(await crypto.subtle.sign("Ed25519", pair.privateKey, base));
  return {
    status: 200,
    headers: new Headers({
      ...fields,
      "signature-input": `tv=${parameters}`,
      signature: `tv=:${signature.toBase64()}:`,
      "cache-control": "public, max-age=30",
      "cdn-cache-control": "max-age=120, stale-while-revalidate=600",
      link: '</api/trending?region=DE&cursor=7-2>; rel="next"',
      "x-powered-by": "nobody's business",
      ...headers,
    }),
    body: bytes,
  };
}

type Said = { type?: string; status?: number };

/** `said`: another content type, or another status in the body. */
function problemWith(status: number, kind: string, said: Said = {}): OriginAnswer {
  const problem = {
    type: `/problems/${kind}`,
    status: said.status ?? status,
    title: "t",
    detail: "d",
  };
  const headers = new Headers({ "content-type": said.type ?? "application/problem+json" });
  return { status, headers, body: new TextEncoder().encode(JSON.stringify(problem)) };
}

function judged(answer: OriginAnswer, circumstances: Partial<Circumstances> = {}) {
  return judge(answer, { ask, held: null, now, keys, ...circumstances });
}

describe("a good answer", () => {
  test("is a copy with its times, its lifetimes and the fields that belong to its body", async () => {
    expect(await judged(await answerWith())).toEqual({
      kind: "copy",
      copy: {
        target: ask.target,
        body: JSON.stringify(list),
        fields: {
          "content-type": "application/json",
          etag: '"abc"',
          link: expect.stringContaining('rel="next"'),
          "unencoded-digest": expect.stringMatching(/^sha-256=:/),
          "signature-input": expect.stringMatching(/^tv=/),
          signature: expect.stringMatching(/^tv=:/),
        },
        generatedAt,
        checkedAt: now,
        lifetimes: { fresh: 120, stale: 600, staleIfError: 0, browserFresh: 30, browserStale: 0 },
      },
    });
  });

  test("may be of the generation that is held", async () => {
    const held = { generatedAt } as Copy;
    expect(await judged(await answerWith(), { held })).toMatchObject({ kind: "copy" });
  });

  test("may have had its tag weakened by a proxy: the copy has the origin's", async () => {
    const answer = await answerWith(list, { etag: 'W/"abc"' });
    expect(await judged(answer)).toMatchObject({ kind: "copy", copy: { fields: { etag: '"abc"' } } });
  });

  test("may be a document without a date: it is as old as the answer", async () => {
    const answer = await answerWith({ keys: [] }, { "content-type": "application/jwk-set+json" });
    const document: Ask = { target: "/.well-known/jwks.json", query: null, placed: false };
    expect(await judged(answer, { ask: document })).toMatchObject({
      kind: "copy",
      copy: { generatedAt: now },
    });
  });
});

describe("a failure of the origin:", () => {
  const cases: [string, () => Promise<OriginAnswer>, RegExp][] = [
    ["status 500", async () => ({ ...(await answerWith()), status: 500 }), /status 500/],
    ["status 206", async () => ({ ...(await answerWith()), status: 206 }), /status 206/],
    ["HTML", () => answerWith("<h1>", { "content-type": "text/html" }), /not JSON/],
    ["JSON by name only, though signed", () => answerWith("{"), /not JSON/],
    ["a body of a megabyte", () => answerWith({ ...list, more: "x".repeat(2 ** 20) }), /larger/],
    ["no lifetimes", () => answerWith(list, { "cdn-cache-control": "" }), /may not be kept/],
    ["no-store", () => answerWith(list, { "cache-control": "no-store" }), /may not be kept/],
    [
      "a changed body",
      async () => ({ ...(await answerWith()), body: new TextEncoder().encode("{}") }),
      /digest/,
    ],
    ["a changed tag", () => answerWith(list, { etag: '"other"' }), /signature/],
    ["no signature", () => answerWith(list, { signature: "" }), /signature/],
    ["another region", () => answerWith({ ...list, region: "FR" }), /region/],
    ["no date that can be read", () => answerWith({ ...list, generated_at: "yesterday" }), /older/],
    ["a problem that is not the visitor's", async () => problemWith(400, "edge-signature"), /status 400/],
    ["a problem with another status", async () => problemWith(404, "invalid-parameter"), /status 404/],
    [
      "a problem whose body says 200",
      async () => problemWith(400, "invalid-parameter", { status: 200 }),
      /status 400/,
    ],
    ["status 404 and HTML", async () => problemWith(404, "not-found", { type: "text/html" }), /status 404/],
    ["a refused edge signature", async () => problemWith(403, "edge-signature"), /status 403/],
    ["nothing published yet", async () => problemWith(503, "not-ready"), /status 503/],
  ];
  test.each(cases)("%s", async (_, make, reason) => {
    expect(await judged(await make())).toEqual({ kind: "failure", reason: expect.stringMatching(reason) });
  });

  test("a ranking made before the one that is held", async () => {
    const held = { generatedAt: generatedAt + 1 } as Copy;
    expect(await judged(await answerWith(), { held })).toMatchObject({ kind: "failure" });
  });

  test("another document", async () => {
    const video: Ask = { target: "/api/videos/a", query: null, placed: false };
    expect(await judged(await answerWith({ id: "b" }), { ask: video })).toMatchObject({ kind: "failure" });
    expect(await judged(await answerWith({ id: "a" }), { ask: video })).toMatchObject({ kind: "copy" });
  });

  test("a key that is not pinned", async () => {
    expect(await judged(await answerWith(), { keys: { keys: [] } })).toMatchObject({ kind: "failure" });
  });
});

test.each([
  [400, "invalid-parameter"],
  [404, "not-found"],
  [410, "generation-gone"],
])("a %p problem is the visitor's", async (status, kind) => {
  expect(await judged(problemWith(status, kind))).toMatchObject({ kind: "problem", problem: { status } });
});
