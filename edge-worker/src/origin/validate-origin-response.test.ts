import { describe, expect, test } from "bun:test";
import { TestSigner } from "@trendvault/contract/test-support/test-signer";
import type { CanonicalRequest } from "../rules/canonical-request.ts";
import {
  generatedAt,
  list,
  missing,
  next,
  now,
  problemWith,
  request,
  responseWith,
  signer,
  storedAt,
  validate,
} from "./test-support/responses.ts";

describe("a valid response", () => {
  const lifetimes = { maxAge: 120, staleWhileRevalidate: 600, staleIfError: 86_400 };

  test("is stored with its times, its signed fields and lifetimes, and a link that comes from its body", async () => {
    const received = await responseWith();
    const signed = await signer.sign(JSON.stringify(list), { created: now, location: request.target });
    expect(await validate(received)).toEqual({
      kind: "response",
      response: {
        target: request.target,
        status: 200,
        body: JSON.stringify(list),
        headers: { ...signed, link: `<${next}>; rel="next"` },
        generatedAt,
        fetchedAt: now,
        lifetimes,
      },
    });
  });

  test("may be of the stored generation", async () => {
    const stored = storedAt(now);
    expect(await validate(await responseWith(), { stored })).toMatchObject({ kind: "response" });
  });

  test("may have an entity tag that a proxy weakened: the stored one is the origin's", async () => {
    const response = await responseWith(list, { headers: { etag: 'W/"abc"' } });
    expect(await validate(response)).toMatchObject({
      kind: "response",
      response: { headers: { etag: '"abc"' } },
    });
  });

  test("may have a proxy's signature beside the origin's, which is the only one that is stored", async () => {
    const plain = await responseWith();
    const input = plain.headers.get("signature-input") ?? "";
    const signature = plain.headers.get("signature") ?? "";
    const proxied = await responseWith(list, {
      headers: {
        "signature-input": `proxy=("date");created=1,\t${input.replace("tv=", "other=")}`,
        signature: `proxy=:AAAA:,${signature.replace("tv=", "other=")}`,
      },
    });
    expect(await validate(proxied)).toEqual(await validate(plain));
  });

  test("has no link when its body names no next page of ours", async () => {
    for (const other of [null, "https://other.example/", '/api/trending?x>; rel="next"', 7]) {
      const validated = await validate(await responseWith({ ...list, next: other }));
      expect(validated).toMatchObject({ kind: "response" });
      expect(JSON.stringify(validated)).not.toContain('"link"');
    }
  });

  test("may be a document without a date: it is as old as the response", async () => {
    const target = "/.well-known/jwks.json";
    const signed = { contentType: "application/jwk-set+json", location: target };
    const document: CanonicalRequest = { target, query: null, regionFromCountry: false };
    expect(await validate(await responseWith({ keys: [] }, { signed }), { request: document })).toMatchObject(
      {
        kind: "response",
        response: { generatedAt: now },
      },
    );
  });

  test("may be a page for people, whose date and policy are in its head; without a head it may run nothing", async () => {
    const signed = { contentType: "text/html; charset=utf-8" };
    const head = `<meta content="${list.generated_at}"><meta content="script-src 'self'">`;
    expect(await validate(await responseWith(head, { signed }))).toMatchObject({
      response: {
        generatedAt,
        headers: { "content-security-policy": "script-src 'self'; frame-ancestors 'none'" },
      },
    });
    const plain = await validate(await responseWith("<h1>", { signed }));
    expect(plain).toMatchObject({ kind: "response", response: { generatedAt: now } });
    expect(JSON.stringify(plain)).not.toContain("policy");
  });

  test.each([-60, 0, 15 * 60])("may have been signed %p seconds ago", async (seconds) => {
    const response = await responseWith(list, { signed: { created: now - seconds } });
    expect(await validate(response)).toMatchObject({ kind: "response" });
  });

  test("may be signed with any of the pinned keys, wherever it is in the set", async () => {
    const others = await Promise.all(["s0", "s2"].map((kid) => TestSigner.create(kid)));
    const [before, after] = others.flatMap(({ publicKeys }) => publicKeys.keys);
    for (const keys of [
      [before, ...signer.publicKeys.keys],
      [...signer.publicKeys.keys, after],
      [before, ...signer.publicKeys.keys, after],
    ]) {
      const pinned = { keys: keys.filter((key) => key !== undefined) };
      expect(await validate(await responseWith(), { keys: pinned })).toMatchObject({ kind: "response" });
    }
  });

  test("has no lifetime longer than a day, even if the origin signs one", async () => {
    const response = await responseWith(list, {
      signed: { lifetimes: "max-age=999999999, stale-if-error=999999999" },
    });
    expect(await validate(response)).toMatchObject({
      response: { lifetimes: { maxAge: 3600, staleIfError: 86_400 } },
    });
  });
});

describe("that a video or a page does not exist", () => {
  const video: CanonicalRequest = { target: "/api/videos/a", query: null, regionFromCountry: false };
  const page: CanonicalRequest = {
    target: `${request.target}&cursor=7-24`,
    query: { region: "DE", window: "day", limit: 24, cursor: "7-24" },
    regionFromCountry: false,
  };

  test("is taken when the origin has signed it, as old as what is stored", async () => {
    for (const asked of [video, page]) {
      const stored = storedAt(now);
      const lifetimes = { maxAge: 60, staleWhileRevalidate: 0, staleIfError: 0 };
      expect(await validate(await missing(asked.target), { request: asked, stored })).toMatchObject({
        kind: "response",
        response: { status: 404, generatedAt, fetchedAt: now, lifetimes },
      });
    }
  });

  test("is a failure when the origin has signed a stored response later: somebody replays it", async () => {
    for (const seconds of [1, 60, 899]) {
      const old = await missing(video.target, 404, now - seconds);
      const stored = storedAt(now - seconds + 1);
      expect(await validate(old, { request: video, stored })).toMatchObject({ kind: "invalid" });
    }
  });

  test("is a failure when it is about something else, or was signed with another status", async () => {
    for (const received of [await missing("/api/videos/b"), await missing(video.target, 200)]) {
      expect(await validate(received, { request: video })).toMatchObject({ kind: "invalid" });
    }
    expect(await validate(problemWith(404, "not-found"), { request: video })).toMatchObject({
      kind: "invalid",
    });
  });
});
