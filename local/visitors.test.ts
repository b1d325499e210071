import { expect, test } from "bun:test";
import { trendingPageExample } from "@trendvault/contract/examples";
import { readViewMessage } from "@trendvault/contract/view-message";
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
