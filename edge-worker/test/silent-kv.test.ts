import { expect, test } from "bun:test";
import { InProcessEdge, withFetch } from "./in-process-edge.ts";

test("while KV gives no answer, and the origin fails, clients get 503 and do not wait for ever", async () => {
  const silent = new Promise<null>(() => {});
  const edge = new InProcessEdge({ stored: [], fallback: silent as never }, () => Date.now() / 1000);
  const failing = () => ({ status: 500, headers: [] as [string, string][], body: "" });
  const seen = await withFetch(failing, () => edge.ask("/api/trending?region=DE"));
  expect(JSON.parse(seen)[0]).toBe(503);
}, 1_200_000);
