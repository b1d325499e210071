import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { longLifetimes, withLifetimes } from "./lifetimes.ts";
import type { RecordedRequest, Recording } from "./recording-worker.ts";
import { startTestStack, type TestStack } from "./test-stack.ts";
import { counting, readList, signPullAt } from "./view-messages.ts";

// What a browser and Cloudflare tell about a visitor, each with a value that is easy to find again.
const headers = {
  "cf-connecting-ip": "2001:db8:1:2:3:4:5:6",
  "x-forwarded-for": "visitor-forwarded",
  "user-agent": "visitor-agent",
  "accept-language": "visitor-language",
  authorization: "visitor-authorization",
  cookie: "visitor=cookie",
  referer: "https://visitor.example/",
  "if-none-match": '"visitor-tag"',
  accept: "visitor/accept",
  traceparent: `00-${"beef".repeat(8)}-${"beef".repeat(4)}-01`,
  tracestate: "visitor=state",
  baggage: "visitor=baggage",
};
const cf = { country: "DE", city: "visitor-city", asn: 64_500, latitude: "visitor-latitude" };

const always = ["method", "url"];
const lists = ["cf.country", "headers.get(if-none-match)", ...always];
const miss = ["cf.country", "headers.get(cf-connecting-ip)", "headers.get(if-none-match)", ...always];

describe("of a request the edge reads", () => {
  let stack: TestStack;
  before(async () => {
    stack = await startTestStack(counting);
    stack.proxy.behaviour = withLifetimes(longLifetimes);
  });
  after(() => stack.close());

  type Options = Partial<Omit<RecordedRequest, "target">>;
  async function record(target: string, options: Options = {}): Promise<Recording> {
    const sent = { ...headers, ...options.headers };
    const [recording] = await stack.edge.record([{ target, cf, ...options, headers: sent }]);
    assert.ok(recording);
    return recording;
  }

  test("URL, method, country and If-None-Match; on a miss the address as well, and counts its network", async () => {
    const first = await record("/api/trending");
    assert.deepEqual([first.status, first.reads], [200, miss]);
    assert.deepEqual(first.limiterKeys, ["2001:db8:1:2"]);
    for (const method of ["GET", "HEAD"]) {
      const again = await record("/api/trending", { method });
      assert.deepEqual([again.status, again.reads, again.limiterKeys], [200, lists, []], method);
    }
  });

  test("no more for a document", async () => {
    assert.deepEqual((await record("/api/regions")).reads, miss);
    assert.deepEqual((await record("/api/regions")).reads, lists);
  });

  const refused: [string, string, number, string[]][] = [
    ["OPTIONS", "/api/trending", 204, always],
    ["POST", "/api/trending", 405, always],
    ["GET", "/nothing", 404, ["url"]],
    ["GET", `/api/trending?category=${"a".repeat(2100)}`, 414, ["url"]],
    ["GET", "/problems/not-found", 200, miss],
    ["GET", "/api/trending?x=1", 400, ["cf.country", ...always]],
  ];
  for (const [method, target, status, reads] of refused) {
    test(`only ${reads.join(", ")} for ${method} ${target.slice(0, 30)}`, async () => {
      const recording = await record(target, { method });
      assert.deepEqual([recording.status, recording.reads], [status, reads]);
    });
  }

  test("the address, when the rate limiter refuses the miss, and asks nobody else", async () => {
    stack.proxy.targets = [];
    const recording = await record("/api/trending?region=FR&limit=7", { allowed: false });
    assert.equal(recording.status, 429);
    assert.deepEqual(
      recording.reads,
      miss.filter((read) => read !== "headers.get(if-none-match)"),
    );
    assert.deepEqual(stack.proxy.targets, []);
  });

  const body = ["body.getReader()", "headers.get(content-length)"];
  const message = ["headers.get(cf-connecting-ip)", "headers.get(content-type)", ...body, ...always].sort();
  const post = { method: "POST", headers: { "content-type": "text/plain" } };

  test("about a list only its body, type and length; and the address, which it counts the network of", async () => {
    const { token } = await readList(stack.edge, "/api/trending?region=SE");
    const sent = JSON.stringify({ token, seen: 2, opened: [1] });
    await record("/api/views", { ...post, body: sent }); // the first asks the origin for the list
    const recording = await record("/api/views", { ...post, body: sent });
    assert.deepEqual([recording.status, recording.reads], [204, message]);
    assert.deepEqual(recording.limiterKeys, ["2001:db8:1:2"]);
  });

  test("about a list not even the body, when the rate limiter refuses it", async () => {
    const recording = await record("/api/views", { ...post, body: "{}", allowed: false });
    assert.equal(recording.status, 429);
    assert.deepEqual(
      recording.reads,
      message.filter((read) => !body.includes(read)),
    );
  });

  test("about a list nothing more, when its type is refused or it is a preflight", async () => {
    const wrong = await record("/api/views", {
      ...post,
      headers: { "content-type": "text/html" },
      body: "{}",
    });
    assert.deepEqual([wrong.status, wrong.reads], [415, ["headers.get(content-type)", ...always]]);
    const preflight = await record("/api/views", { method: "OPTIONS" });
    assert.deepEqual([preflight.status, preflight.reads], [204, always]);
  });

  test("of a writer that pulls only its signature", async () => {
    const target = "/api/views/minutes?shard=SE-0";
    const signed = { ...signPullAt(Math.floor(Date.now() / 1000), target) };
    const recording = await record(target, { headers: signed });
    const reads = ["headers.get(signature)", "headers.get(signature-input)", ...always];
    assert.deepEqual([recording.status, recording.reads, recording.limiterKeys], [200, reads, []]);
  });

  test("and sends the origin nothing of it but the canonical target", () => {
    assert.ok(stack.proxy.headers.length > 0);
    for (const sent of stack.proxy.headers) {
      assert.ok(sent["x-edge-signature"]);
      assert.doesNotMatch(JSON.stringify(sent), /visitor|2001:db8|beefbeef/);
      assert.match(String(sent.traceparent), /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    }
    const traces = stack.proxy.headers.map(({ traceparent }) => traceparent);
    assert.equal(new Set(traces).size, traces.length, "a trace of its own for each request");
  });
});
