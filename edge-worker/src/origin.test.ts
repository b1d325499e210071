import { afterEach, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import {
  edgePayload,
  edgeSignatureHeader,
  judgeEdgeSignature,
  readEdgeSignature,
} from "@trendvault/contract/edge-signature";
import { hmacSha256 } from "@trendvault/contract/hmac";
import { parseKeyRing, signingKey } from "@trendvault/contract/key-ring";
import { askOrigin } from "./origin.ts";

// These run on Bun: local workerd turns a failed connection into an answer with status 500.

const edgeKeys = parseKeyRing(`e2:${"B".repeat(43)},e1:${"A".repeat(43)}`);
const target = "/api/trending?region=DE&category=Film%20%26%20Animation";

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function ask(listener: RequestListener, deadlineSeconds = 5) {
  server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  return askOrigin(target, { url: new URL(`http://127.0.0.1:${port}`), edgeKeys, deadlineSeconds });
}

/** Answers the first request in one way and the others in another. */
function first(
  listener: RequestListener,
  then: RequestListener,
): { listener: RequestListener; asked: () => number } {
  let asked = 0;
  return { listener: (...handed) => (asked++ === 0 ? listener : then)(...handed), asked: () => asked };
}

const close: RequestListener = (request) => request.socket.destroy();
const greet: RequestListener = (_, response) => response.end("hello");

test("the request is signed over method, path and query with the first key, now", async () => {
  let header: string | undefined;
  await ask((request, response) => {
    header = request.headers[edgeSignatureHeader] as string;
    response.end(request.url === target ? "" : "another target");
  });
  const signature = readEdgeSignature(header ?? "");
  if (signature === null) throw new Error(`not a signature: ${header}`);
  const { kid, key } = signingKey(edgeKeys);
  expect(signature.kid).toBe(kid);
  const hmac = await hmacSha256(key, edgePayload({ method: "GET", target }, signature));
  expect(judgeEdgeSignature(signature, { hmac, seconds: Math.floor(Date.now() / 1000) })).toBe("valid");
});

describe("a connection that fails", () => {
  test("once is tried again", async () => {
    const { listener, asked } = first(close, greet);
    const answer = await ask(listener);
    expect(answer).toMatchObject({ status: 200, body: new TextEncoder().encode("hello") });
    expect(asked()).toBe(2);
  });

  test("twice is not tried a third time", async () => {
    const { listener, asked } = first(close, close);
    expect(await ask(listener)).toBe("unreachable");
    expect(asked()).toBe(2);
  });

  test("between Cloudflare and the origin is tried again", async () => {
    const { listener } = first((_, response) => response.writeHead(521).end(), greet);
    expect(await ask(listener)).toMatchObject({ status: 200 });
  });

  test("half way through a body is tried again", async () => {
    const breakOff: RequestListener = (request, response) => {
      response.writeHead(200, { "content-length": "1000" });
      response.write("half", () => request.socket.destroy());
    };
    expect(await ask(first(breakOff, greet).listener)).toMatchObject({ status: 200 });
  });
});

test("an error of the origin is its answer, and is not tried again", async () => {
  const { listener, asked } = first((_, response) => response.writeHead(500).end("broken"), greet);
  expect(await ask(listener)).toMatchObject({ status: 500 });
  expect(asked()).toBe(1);
});

test("a redirect is not followed", async () => {
  const redirect: RequestListener = (_, response) =>
    response.writeHead(302, { location: "/elsewhere" }).end();
  expect(await ask(first(redirect, greet).listener)).toMatchObject({ status: 302 });
});

test("the deadline is for both tries and the body together", async () => {
  const stall: RequestListener = (_, response) => response.writeHead(200).write("half");
  const { listener, asked } = first(stall, greet);
  expect(await ask(listener, 0.1)).toBe("timed-out");
  expect(asked()).toBe(1);
});
