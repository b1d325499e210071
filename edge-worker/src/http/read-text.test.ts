import { expect, test } from "bun:test";
import { readText } from "./read-text.ts";

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
