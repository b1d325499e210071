import { expect, test } from "bun:test";
import type { ViewServices } from "../views/view-services.ts";
import { type MessageContext, respondToViews } from "./respond-to-views.ts";

/** What a message is answered that a limiter says this about, and the events of the log. */
async function send(allowMessage: () => Promise<boolean>): Promise<[number | undefined, string[]]> {
  const events: string[] = [];
  const views = { log: ({ event }: { event: string }) => events.push(event) } as unknown as ViewServices;
  const context = { allowMessage } as unknown as MessageContext;
  const url = "https://site.example/api/views";
  const headers = { "content-type": "text/plain" };
  const request = new Request(url, { method: "POST", headers, body: "no message" });
  const response = await respondToViews(request, new URL(url), { context, views });
  return [response?.status, events];
}

test("a rate limiter refuses messages of a network that has sent too many", async () => {
  expect(await send(async () => false)).toEqual([429, []]);
});

test("a rate limiter that fails refuses no message, and the log says so", async () => {
  const failing = () => Promise.reject(new Error("no limiter"));
  expect(await send(failing)).toEqual([400, ["rate_limiter_failed"]]); // read, and refused for what it says
});
