import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { parseKeyRing } from "@trendvault/contract/keys";
import { EdgeSigner, edgeSignatureHeader } from "@trendvault/contract/request-signatures";
import { DatabaseBuilder, videos } from "@trendvault/kit/database";
import { RawClient } from "@trendvault/kit/load";
import { until } from "@trendvault/kit/machine";
import { headOf, openTestOrigin, type TestOrigin, testTime } from "@trendvault/kit/origin";
import { OriginProcess } from "@trendvault/kit/origin-process";
import { type RequestHead, readHead } from "../src/http/request-head.ts";

const fieldsOfVisitor = {
  "user-agent": "SecretAgent/7.0",
  cookie: "session=s3cr3t",
  referer: "https://secret.example/",
  "x-forwarded-for": "203.0.113.77",
  "cf-connecting-ip": "203.0.113.77",
  traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
};

const requests: [name: string, target: string, init: RequestInit][] = [
  ["one that is built", "/api/trending?region=DE", {}],
  ["one in the cache", "/api/trending", {}],
  ["one in the cache, in another coding", "/api/trending", { headers: { "accept-encoding": "br" } }],
  ["one that is not modified", "/api/trending", { headers: { "if-none-match": "*" } }],
  ["one that refuses every coding", "/api/trending", { headers: { "accept-encoding": "*;q=0" } }],
  ["HEAD", "/api/regions", { method: "HEAD" }],
  ["OPTIONS", "/api/trending", { method: "OPTIONS" }],
  ["POST", "/api/trending", { method: "POST", body: "secret" }],
  ["a video", "/api/videos/video1", {}],
  ["an unknown video", "/api/videos/none", {}],
  ["an unknown path, as a browser", "/none", { headers: { accept: "text/html" } }],
  ["a bad parameter", "/api/trending?limit=0", {}],
  ["a target that is too long", `/api/trending?x=${"x".repeat(3000)}`, {}],
  ["the description", "/openapi.json", {}],
  ["a problem's page", "/problems/not-found", {}],
  ["the health check", "/healthz", {}],
];

const readOfEach = ["target", "method", "acceptEncoding", "ifNoneMatch"];

describe("of a request, nothing is read that tells clients apart", () => {
  let builder: DatabaseBuilder;
  beforeEach(() => {
    builder = new DatabaseBuilder();
    builder.publish([{ region: "GB", videos: videos(30) }]);
  });
  afterEach(() => builder.remove());

  async function readsOf(testOrigin: TestOrigin, target: string, init: RequestInit): Promise<string[]> {
    const headers = { ...fieldsOfVisitor, ...(init.headers as Record<string, string>) };
    const reads = new Set<string>();
    const get = (head: RequestHead, name: string) => {
      reads.add(name);
      return Reflect.get(head, name);
    };
    const ownKeys = () => {
      throw new Error("All of a request is read");
    };
    await testOrigin.origin.answer(new Proxy(headOf(target, { ...init, headers }), { get, ownKeys }));
    return [...reads];
  }

  test.each(requests)("%s", async (_name, target, init) => {
    const testOrigin = await openTestOrigin(builder.path);
    await testOrigin.ask("/api/trending");
    const reads = await readsOf(testOrigin, target, init);
    expect(reads).toContain("target");
    const ofPeople = target === "/none" ? ["accept", "acceptLanguage"] : [];
    expect(reads.filter((read) => !readOfEach.includes(read))).toEqual(ofPeople);
    testOrigin.watcher.close();
  });

  test("one that fails: no more, unless the edge sent it; then its trace for the log, too", async () => {
    const keys = `e1:${"B".repeat(43)}`;
    const signature = await new EdgeSigner(parseKeyRing(keys)).sign(testTime / 1000);
    const ofEdge = ["edgeSignature", "traceparent"];
    for (const [env, expected] of [
      [{}, []],
      [{ EDGE_KEYS: keys }, ofEdge],
    ] as const) {
      const testOrigin = await openTestOrigin(builder.path, env);
      testOrigin.lists.readVideo = () => {
        throw new Error("broken");
      };
      const headers = { [edgeSignatureHeader]: signature };
      const reads = await readsOf(testOrigin, "/api/videos/video1", { headers });
      expect(reads.filter((read) => !readOfEach.includes(read))).toEqual([...expected]);
      testOrigin.watcher.close();
    }
  });

  test("one that the edge signs: the signature, too", async () => {
    const testOrigin = await openTestOrigin(builder.path, { EDGE_KEYS: `e1:${"B".repeat(43)}` });
    const reads = await readsOf(testOrigin, "/api/trending", {
      headers: { [edgeSignatureHeader]: `v1.e1.1.${"A".repeat(43)}` },
    });
    expect(reads.filter((read) => !readOfEach.includes(read))).toEqual(["edgeSignature"]);
    testOrigin.watcher.close();
  });
});

test("of a request as it came, nothing that tells clients apart is kept but a trace", () => {
  const fields = Object.entries(fieldsOfVisitor).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = readHead(`GET / HTTP/1.1\r\nHost: a\r\n${fields.join("")}\r\n`);
  const { traceparent, ...others } = fieldsOfVisitor;
  expect(head).toMatchObject({ method: "GET", target: "/", traceparent });
  for (const value of Object.values(others)) expect(JSON.stringify(head)).not.toContain(value);
});

const visitors: [Visitor, Visitor] = [
  { address: "203.0.113.77", agent: "SecretAgent/7.0", cookie: "session=s3cr3t-one" },
  { address: "2001:db8::dead:beef", agent: "OtherBrowser/9.9", cookie: "session=s3cr3t-two" },
];

const targets = [
  "/api/trending",
  "/api/trending?region=DE",
  "/api/regions",
  "/api/videos/video1",
  "/openapi.json",
  "/api/trending?email=someone%40example.test",
  "/api/videos/private-thing",
  "/none?email=someone%40example.test",
];

test("answers are the same bytes for every client, and no client leaves a trace", async () => {
  const builder = new DatabaseBuilder();
  builder.publish([{ region: "GB", videos: videos(30) }]);
  const origin = await OriginProcess.start(builder.path);
  const [one, other] = [new RawClient(origin.url), new RawClient(origin.url)];
  let bodies = "";
  for (const target of targets) {
    let [left, right] = ["", ""];
    do {
      left = (await one.get(target, fieldsOf(visitors[0]))).body;
      right = (await other.get(target, fieldsOf(visitors[1]))).body;
    } while (minuteOf(left) !== minuteOf(right)); // the token's minute changed in between
    expect(right).toBe(left);
    bodies += left;
  }
  const metrics = async () => (await fetch(`${origin.admin}metrics`)).text();
  await until(async () => (await metrics()).includes('route="none",status="404"'));
  const output = bodies + origin.output + (await metrics()) + JSON.stringify(await origin.readiness());
  for (const secret of [
    ...visitors.flatMap(Object.values),
    "someone",
    "example.test",
    "email",
    "private-thing",
  ]) {
    expect(output).not.toContain(secret);
  }
  await origin.remove();
  builder.remove();
});

type Visitor = { address: string; agent: string; cookie: string };

function fieldsOf({ address, agent, cookie }: Visitor): string {
  const fields = {
    "X-Forwarded-For": address,
    "X-Real-IP": address,
    "CF-Connecting-IP": address,
    Forwarded: `for="${address}"`,
    "User-Agent": agent,
    Cookie: cookie,
    Referer: `https://${agent}`,
  };
  return Object.entries(fields).reduce((text, [name, value]) => `${text}${name}: ${value}\r\n`, "");
}

function minuteOf(body: string): string | undefined {
  return /"token":"[^.]+\.([^.]+)/.exec(body)?.[1];
}
