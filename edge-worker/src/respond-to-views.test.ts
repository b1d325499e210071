import { expect, test } from "bun:test";
import type { ViewServices } from "./count-views.ts";
import { type MessageContext, readText, respondToViews } from "./respond-to-views.ts";

/** What a message is answered that a limiter says this about, and the events of the log. */
async function send(
  allowMessage: () => Promise<boolean>,
  { allowToken = async (_: string) => true, body = "no message" } = {},
): Promise<[number, string[]]> {
  const events: string[] = [];
  const views = { log: ({ event }: { event: string }) => events.push(event) } as unknown as ViewServices;
  const context = { allowMessage, allowToken } as unknown as MessageContext;
  const url = "https://site.example/api/views";
  const headers = { "content-type": "text/plain" };
  const request = new Request(url, { method: "POST", headers, body });
  const response = await respondToViews(request, new URL(url), { context, views });
  return [response.status, events];
}

test("a rate limiter refuses messages of a network that has sent too many", async () => {
  expect(await send(async () => false)).toEqual([429, []]);
});

test.each([
  ["fails", () => Promise.reject(new Error("no limiter"))],
  ["gives no answer", () => new Promise<never>(() => {})],
])("a rate limiter that %s refuses no message, and the log says so", async (_, limiter) => {
  expect(await send(limiter)).toEqual([400, ["rate_limiter_failed"]]); // read, and refused for what it says
});

test("a rate limiter refuses further messages of a network with one token, and no other's", async () => {
  const allow = async () => true;
  const asked: string[] = [];
  const allowToken = async (token: string) => {
    asked.push(token);
    return false;
  };
  const body = JSON.stringify({ token: "t", seen: 1, opened: [] });
  expect(await send(allow, { allowToken, body })).toEqual([429, []]);
  expect(await send(allow, { allowToken })).toEqual([400, []]);
  expect(asked).toEqual(["t"]);
});

const bytes = (text: string) => new TextEncoder().encode(text);

function requestOf(pull: (controller: ReadableStreamDefaultController, call: number) => void): Request {
  let call = 0;
  const body = new ReadableStream({ pull: (controller) => pull(controller, call++) });
  return new Request("https://site.example/", { method: "POST", body });
}

test("a body is read whole, in whatever pieces it comes", async () => {
  const text = '{"title": "Zürich"}';
  const request = requestOf((controller, call) => {
    if (call < bytes(text).length) controller.enqueue(bytes(text).slice(call, call + 1));
    else controller.close();
  });
  expect(await readText(request, 2048)).toBe(text);
});

test("a body that never ends is read no further than it may be long", async () => {
  let calls = 0;
  const request = requestOf((controller) => {
    calls++;
    controller.enqueue(bytes("x".repeat(100)));
  });
  expect(await readText(request, 2048)).toBe("too-large");
  expect(calls).toBeLessThan(30);
});

test("a body whose client goes away is none, and no error", async () => {
  const request = requestOf((controller, call) => {
    if (call === 0) controller.enqueue(bytes('{"token":'));
    else controller.error(new Error("Network connection lost."));
  });
  expect(await readText(request, 2048)).toBeNull();
});

test("bytes that are not UTF-8 are no text", async () => {
  const body = new Uint8Array([0x22, 0xff, 0x22]);
  expect(await readText(new Request("https://site.example/", { method: "POST", body }), 2048)).toBeNull();
});
