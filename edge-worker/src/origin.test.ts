import { afterEach, describe, expect, spyOn, test } from "bun:test";
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { beginTrace } from "@trendvault/contract/http";
import { parseKeyRing } from "@trendvault/contract/keys";
import { EdgeSigner, edgeSignatureHeader } from "@trendvault/contract/request-signatures";
import { TestSigner } from "@trendvault/kit/signers";
import { fetchFromOrigin, OriginSource, validateOriginResponse } from "./origin.ts";
import type { CanonicalRequest } from "./policy.ts";
import type { ReceivedAnswer, StoredResponse } from "./signed-answer.ts";

// These run on Bun: local workerd turns a failed connection into a response with status 500.

const edgeSigner = new EdgeSigner(parseKeyRing(`e2:${"B".repeat(43)},e1:${"C".repeat(43)}`));
const { traceparent } = beginTrace();
const target = "/api/trending?region=DE&category=Film%20%26%20Animation";

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function listen(listener: RequestListener): Promise<URL> {
  server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  return new URL(`http://127.0.0.1:${port}`);
}

async function fetchWith(listener: RequestListener, timeoutSeconds = 300) {
  const url = await listen(listener);
  return fetchFromOrigin(target, { url, signer: edgeSigner, timeoutSeconds, traceparent });
}

/** Responds to the first request in one way and to the others in another. */
function first(
  listener: RequestListener,
  then: RequestListener,
): { listener: RequestListener; requests: () => number } {
  let requests = 0;
  return {
    listener: (...handed) => (requests++ === 0 ? listener : then)(...handed),
    requests: () => requests,
  };
}

const close: RequestListener = (request) => request.socket.destroy();
const greet: RequestListener = (_, response) => response.end("hello");

test("the request is signed with the first key, in this minute", async () => {
  let header: string | undefined;
  const before = await edgeSigner.sign(Date.now() / 1000);
  await fetchWith((request, response) => {
    header = request.headers[edgeSignatureHeader] as string;
    response.end(request.url === target ? "" : "another target");
  });
  expect([before, await edgeSigner.sign(Date.now() / 1000)]).toContain(header ?? "");
  expect(header).toStartWith("v2.e2.");
});

test("the request, and its retry, have the trace that is logged", async () => {
  const seen: unknown[] = [];
  const record: RequestListener = (request) => {
    seen.push(request.headers.traceparent);
    request.socket.destroy();
  };
  await fetchWith(record);
  expect(seen).toEqual([traceparent, traceparent]);
});

describe("a connection that fails", () => {
  test("once is retried", async () => {
    const { listener, requests } = first(close, greet);
    const response = await fetchWith(listener);
    expect(response).toMatchObject({ status: 200, body: new TextEncoder().encode("hello") });
    expect(requests()).toBe(2);
  });

  test("twice is not retried again", async () => {
    const { listener, requests } = first(close, close);
    expect(await fetchWith(listener)).toBe("unreachable");
    expect(requests()).toBe(2);
  });

  test("between Cloudflare and the origin is retried", async () => {
    const { listener } = first((_, response) => response.writeHead(521).end(), greet);
    expect(await fetchWith(listener)).toMatchObject({ status: 200 });
  });

  test("half way through a body is retried", async () => {
    const breakOff: RequestListener = (request, response) => {
      response.writeHead(200, { "content-length": "1000" });
      response.write("half", () => request.socket.destroy());
    };
    expect(await fetchWith(first(breakOff, greet).listener)).toMatchObject({ status: 200 });
  });
});

test("an error of the origin is its response, and is not retried", async () => {
  const { listener, requests } = first((_, response) => response.writeHead(500).end("broken"), greet);
  expect(await fetchWith(listener)).toMatchObject({ status: 500 });
  expect(requests()).toBe(1);
});

test("a body that is larger than any answer is not read to its end", async () => {
  let sent = 0;
  const flood: RequestListener = (_, response) => {
    const chunk = Buffer.alloc(65_536);
    const send = () => {
      while (!response.destroyed && sent < 2 ** 28) {
        sent += chunk.length;
        if (!response.write(chunk)) return void response.once("drain", send);
      }
      response.end();
    };
    send();
  };
  const { listener, requests } = first(flood, greet);
  expect(await fetchWith(listener)).toBe("too-large");
  expect([requests(), sent < 2 ** 26]).toEqual([1, true]);
});

test("a redirect is not followed", async () => {
  const redirect: RequestListener = (_, response) =>
    response.writeHead(302, { location: "/elsewhere" }).end();
  expect(await fetchWith(first(redirect, greet).listener)).toMatchObject({ status: 302 });
});

test("the timeout is for both tries and the body together", async () => {
  const time = new AbortController();
  const timeout = spyOn(AbortSignal, "timeout").mockReturnValue(time.signal);
  const stall: RequestListener = (_, response) =>
    response.writeHead(200).write("half", () => time.abort(new DOMException("late", "TimeoutError")));
  const { listener, requests } = first(close, first(stall, greet).listener);
  expect(await fetchWith(listener, 2)).toBe("timed-out");
  expect(timeout.mock.calls).toEqual([[2000]]);
  expect(requests()).toBe(2);
  timeout.mockRestore();
});

describe("a valid response", () => {
  const lifetimes = { maxAge: 120, staleWhileRevalidate: 600, staleIfError: 86_400 };

  test("is stored with its times, its signed fields and lifetimes, and a link that comes from its body", async () => {
    const received = await responseWith();
    const signed = await signer.sign(JSON.stringify(list), { created: now, location: canonical.target });
    expect(await validate(received)).toEqual({
      kind: "response",
      response: {
        target: canonical.target,
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
    expect(
      await validate(await responseWith({ keys: [] }, { signed }), { canonical: document }),
    ).toMatchObject({
      kind: "response",
      response: { generatedAt: now },
    });
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
    target: `${canonical.target}&cursor=7-24`,
    query: { region: "DE", window: "day", limit: 24, cursor: "7-24" },
    regionFromCountry: false,
  };

  test("is taken when the origin has signed it, as old as what is stored", async () => {
    for (const asked of [video, page]) {
      const stored = storedAt(now);
      const lifetimes = { maxAge: 60, staleWhileRevalidate: 0, staleIfError: 0 };
      expect(await validate(await missing(asked.target), { canonical: asked, stored })).toMatchObject({
        kind: "response",
        response: { status: 404, generatedAt, fetchedAt: now, lifetimes },
      });
    }
  });

  test("is a failure when the origin has signed a stored response later: somebody replays it", async () => {
    for (const seconds of [1, 60, 899]) {
      const old = await missing(video.target, 404, now - seconds);
      const stored = storedAt(now - seconds + 1);
      expect(await validate(old, { canonical: video, stored })).toMatchObject({ kind: "invalid" });
    }
  });

  test("is a failure when it is about something else, or was signed with another status", async () => {
    for (const received of [await missing("/api/videos/b"), await missing(video.target, 200)]) {
      expect(await validate(received, { canonical: video })).toMatchObject({ kind: "invalid" });
    }
    expect(await validate(problemWith(404, "not-found"), { canonical: video })).toMatchObject({
      kind: "invalid",
    });
  });
});

describe("a failure of the origin:", () => {
  const cases: [string, () => Promise<ReceivedAnswer>, RegExp][] = [
    ["status 500", async () => ({ ...(await responseWith()), status: 500 }), /status 500/],
    ["status 206", async () => ({ ...(await responseWith()), status: 206 }), /status 206/],
    ["plain text", () => responseWith("<h1>", { signed: { contentType: "text/plain" } }), /another type/],
    [
      "HTML with the date of no list",
      () =>
        responseWith('<meta content="yesterday"><meta content="">', {
          signed: { contentType: "text/html; charset=utf-8" },
        }),
      /date/,
    ],
    ["JSON by name only, though signed", () => responseWith("{"), /not JSON/],
    ["no lifetimes", () => responseWith(list, { signed: { lifetimes: "" } }), /may not be stored/],
    ["no-store", () => responseWith(list, { signed: { lifetimes: "no-store" } }), /may not be stored/],
    [
      "a changed body",
      async () => ({ ...(await responseWith()), body: new TextEncoder().encode("{}") }),
      /digest/,
    ],
    ["a changed tag", () => responseWith(list, { headers: { etag: '"other"' } }), /signature/],
    [
      "changed lifetimes",
      () => responseWith(list, { headers: { "trendvault-cache-control": "max-age=999999999" } }),
      /signature/,
    ],
    ["no signature", () => responseWith(list, { headers: { signature: "" } }), /signature/],
    [
      "the answer to another request",
      () => responseWith(list, { signed: { location: "/api/trending?region=DE&limit=7" } }),
      /another request/,
    ],
    ["an old signature", () => responseWith(list, { signed: { created: now - 901 } }), /not signed now/],
    [
      "a signature of the future",
      () => responseWith(list, { signed: { created: now + 61 } }),
      /in the future/,
    ],
    ["no date that can be read", () => responseWith({ ...list, generated_at: "yesterday" }), /date/],
    ["400 without a signature", async () => problemWith(400, "invalid-parameter"), /status 400/],
    ["404 without a signature", async () => problemWith(404, "not-found"), /status 404/],
    ["410 without a signature", async () => problemWith(410, "generation-gone"), /status 410/],
    ["a signed 404 for a list that always exists", () => missing(canonical.target), /status 404/],
    ["a refused edge signature", async () => problemWith(403, "edge-signature"), /status 403/],
    ["nothing published yet", async () => problemWith(503, "not-ready"), /status 503/],
  ];
  test.each(cases)("%s", async (_, make, reason) => {
    expect(await validate(await make())).toEqual({ kind: "invalid", reason: expect.stringMatching(reason) });
  });

  test("a ranking older than the stored one", async () => {
    const stored = { ...storedAt(now), generatedAt: generatedAt + 1 };
    expect(await validate(await responseWith(), { stored })).toMatchObject({ kind: "invalid" });
  });

  test("a key that is not pinned", async () => {
    expect(await validate(await responseWith(), { keys: { keys: [] } })).toMatchObject({ kind: "invalid" });
  });
});

const now = 1_795_176_030;
const canonical: CanonicalRequest = {
  target: "/api/trending?region=DE",
  query: { region: "DE", window: "day", limit: 24 },
  regionFromCountry: true,
};
const next = "/api/trending?region=DE&cursor=7-24";
const list = { region: "DE", generation: 7, generated_at: "2026-11-20T12:00:00Z", next };
const generatedAt = Date.parse(list.generated_at) / 1000;

const signer = await TestSigner.create();

type Signed = Parameters<TestSigner["sign"]>[1];

/** A valid response, signed with `signed`; then `headers` replace its own. */
async function responseWith(
  body: unknown = list,
  { signed = {}, headers = {} }: { signed?: Signed; headers?: Record<string, string> } = {},
): Promise<ReceivedAnswer> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return {
    status: 200,
    headers: new Headers({
      ...(await signer.sign(text, { created: now, location: canonical.target, ...signed })),
      "cache-control": "public, max-age=999999999",
      "cdn-cache-control": "max-age=999999999",
      link: '<https://other.example/>; rel="next"',
      "x-powered-by": "nobody's business",
      ...headers,
    }),
    body: new TextEncoder().encode(text),
  };
}

/** An answer that something does not exist; `status` is what it is signed with. */
async function missing(location: string, status = 404, created = now): Promise<ReceivedAnswer> {
  const text = JSON.stringify({ type: "/problems/not-found", status: 404, title: "t", detail: "d" });
  const signed = { status, contentType: "application/problem+json", location, lifetimes: "max-age=60" };
  const headers = new Headers(await signer.sign(text, { created, ...signed }));
  return { status: 404, headers, body: new TextEncoder().encode(text) };
}

/** What the edge looks at of a stored response, which the origin signed at a time. */
function storedAt(created: number): StoredResponse {
  const headers = { "signature-input": `tv=("@status");created=${created};keyid="s1"` };
  return { generatedAt, headers } as unknown as StoredResponse;
}

/** A problem as anyone can write it. */
function problemWith(status: number, kind: string): ReceivedAnswer {
  const problem = { type: `/problems/${kind}`, status, title: "t", detail: "d" };
  const headers = new Headers({ "content-type": "application/problem+json" });
  return { status, headers, body: new TextEncoder().encode(JSON.stringify(problem)) };
}

function validate(
  received: ReceivedAnswer,
  context: Partial<Parameters<typeof validateOriginResponse>[1]> = {},
) {
  return validateOriginResponse(received, {
    canonical,
    stored: null,
    now,
    keys: signer.publicKeys,
    ...context,
  });
}

test.each([
  ["7", 7],
  ["Fri, 20 Nov 2026 12:00:30 GMT", 30],
  ["Fri, 20 Nov 2026 11:00:00 GMT", 0],
  ["soon", 0],
  ["-5", 0],
  [null, 0],
])("Retry-After: %p is %p seconds", async (field, retryAfter) => {
  const fields = field === null ? {} : { "retry-after": field };
  const source = new OriginSource({
    ...{ url: await listen((_, response) => response.writeHead(503, fields).end()), signer: edgeSigner },
    ...{ timeoutSeconds: 300, keys: { keys: [] }, log: () => {} },
    clock: () => Date.parse("2026-11-20T12:00:00Z") / 1000,
  });
  const held = { stored: null, waitUntil: () => {}, mayRead: async () => true };
  const answer = await source.read({ target, query: null, regionFromCountry: false }, held);
  expect(answer).toEqual({ kind: "failed", status: 503, retryAfter });
});
