import { expect, test } from "bun:test";
import { trendingPageExample } from "@trendvault/contract/examples";
import { readViewMessage } from "@trendvault/contract/views";
import { runVisitors } from "./visitors.ts";

test("visitors do not wait for each other's acknowledgement, and are counted once all have theirs", async () => {
  const acknowledge = Promise.withResolvers<void>();
  const stop = new AbortController();
  let messages = 0;
  const edge = Bun.serve({
    port: 0,
    routes: { "/api/trending": () => Response.json(trendingPageExample) },
    async fetch(request) {
      if (typeof readViewMessage(await request.text()) === "string")
        return new Response(null, { status: 400 });
      if (++messages === 10) acknowledge.resolve();
      await acknowledge.promise;
      return new Response(null, { status: messages % 5 === 0 ? 503 : 204 });
    },
  });
  const options = { edge: edge.url.href.slice(0, -1), regions: ["DE"], perSecond: 500 };
  const running = runVisitors(options, stop.signal);
  await acknowledge.promise;
  while (messages < 30) await Bun.sleep(1);
  stop.abort();
  const { counted, refused } = await running;
  await edge.stop(true);
  expect(counted).toBeGreaterThan(0);
  expect(refused).toBeGreaterThan(0);
});

test("a visitor asks for the list and tells of it from one address, other visitors from others", async () => {
  const stop = new AbortController();
  const addresses = { asked: new Set<string | null>(), told: new Set<string | null>() };
  const edge = Bun.serve({
    port: 0,
    fetch(request) {
      const isMessage = request.method === "POST";
      addresses[isMessage ? "told" : "asked"].add(request.headers.get("cf-connecting-ip"));
      if (addresses.told.size === 5) stop.abort();
      return isMessage ? new Response(null, { status: 204 }) : Response.json(trendingPageExample);
    },
  });
  await runVisitors({ edge: edge.url.href.slice(0, -1), regions: ["DE"], perSecond: 500 }, stop.signal);
  await edge.stop(true);
  expect(addresses.told.size).toBeGreaterThanOrEqual(5);
  expect(addresses.asked.has(null)).toBe(false);
  expect(addresses.told.isSubsetOf(addresses.asked)).toBe(true);
});
