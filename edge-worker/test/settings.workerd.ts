import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Edge } from "./edge.ts";

describe("a Worker with bad settings", () => {
  let edge: Edge;
  before(async () => {
    edge = await Edge.start("http://127.0.0.1:9", {
      ORIGIN_TIMEOUT_SECONDS: "soon",
      ORIGIN_BACKOFF_SECONDS: "later",
    });
  });
  after(() => edge.close());

  test("answers 500 and logs each of them", async () => {
    const response = await edge.fetch("/api/trending");
    assert.equal(response.status, 500);
    assert.equal(response.headers.get("cache-control"), "no-store");
    assert.equal(((await response.json()) as { type: string }).type, "/problems/internal");
    const [line] = edge.logs().map((text) => JSON.parse(text));
    assert.deepEqual([line.level, line.event], ["error", "request_failed"]);
    assert.match(line.error, /ORIGIN_TIMEOUT_SECONDS: expected seconds/);
    assert.match(line.error, /^ORIGIN_BACKOFF_SECONDS: expected seconds/m);
  });
});
