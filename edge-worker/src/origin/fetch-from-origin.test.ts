import { afterEach, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { beginTrace } from "@trendvault/contract/http";
import { parseKeyRing } from "@trendvault/contract/keys";
import { EdgeSigner, edgeSignatureHeader } from "@trendvault/contract/request-signatures";
import { fetchFromOrigin } from "./fetch-from-origin.ts";

// These run on Bun: local workerd turns a failed connection into a response with status 500.

const signer = new EdgeSigner(parseKeyRing(`e2:${"B".repeat(43)},e1:${"C".repeat(43)}`));
const { traceparent } = beginTrace();
const target = "/api/trending?region=DE&category=Film%20%26%20Animation";

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function fetchWith(listener: RequestListener, timeoutSeconds = 300) {
  server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const url = new URL(`http://127.0.0.1:${port}`);
  return fetchFromOrigin(target, { url, signer, timeoutSeconds, traceparent });
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
  const before = await signer.sign(Date.now() / 1000);
  await fetchWith((request, response) => {
    header = request.headers[edgeSignatureHeader] as string;
    response.end(request.url === target ? "" : "another target");
  });
  expect([before, await signer.sign(Date.now() / 1000)]).toContain(header ?? "");
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
  const stall: RequestListener = (_, response) => response.writeHead(200).write("half");
  const { listener, requests } = first(stall, greet);
  expect(await fetchWith(listener, 2)).toBe("timed-out");
  expect(requests()).toBe(1);
});
