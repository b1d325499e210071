import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { parseKeyRing } from "@trendvault/contract/keys";
import { EdgeSigner, edgeSignatureHeader } from "@trendvault/contract/request-signatures";
import { DatabaseBuilder, videos } from "@trendvault/kit/database";
import { RawClient } from "@trendvault/kit/load";
import { until } from "@trendvault/kit/machine";
import { openTestOrigin, type TestOrigin, testTime } from "@trendvault/kit/origin";
import { OriginProcess } from "@trendvault/kit/origin-process";

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

const readOfEach = ["url", "method", "headers", "headers.get(accept-encoding)", "headers.get(if-none-match)"];

describe("of a request, nothing is read that tells clients apart", () => {
  let builder: DatabaseBuilder;
  beforeEach(() => {
    builder = new DatabaseBuilder();
    builder.publish([{ region: "GB", videos: videos(30) }]);
  });
  afterEach(() => builder.remove());

  async function readsOf(testOrigin: TestOrigin, target: string, init: RequestInit): Promise<string[]> {
    const headers = { ...fieldsOfVisitor, ...(init.headers as Record<string, string>) };
    const recorded = recordReads(new Request(`http://origin.test${target}`, { ...init, headers }));
    const answer = testOrigin.origin.answer as (...values: unknown[]) => Promise<Response>;
    const server = new Proxy({}, { get: (_, name) => recorded.reads.add(`server.${String(name)}`) });
    await answer(recorded.request, server); // as Bun.serve calls it
    return [...recorded.reads];
  }

  test.each(requests)("%s", async (_name, target, init) => {
    const testOrigin = await openTestOrigin(builder.path);
    await testOrigin.ask("/api/trending");
    const reads = await readsOf(testOrigin, target, init);
    expect(reads).toContain("url");
    const ofPeople = target === "/none" ? ["headers.get(accept)", "headers.get(accept-language)"] : [];
    expect(reads.filter((read) => !readOfEach.includes(read))).toEqual(ofPeople);
    testOrigin.watcher.close();
  });

  test("one that fails: no more, unless the edge sent it; then its trace for the log, too", async () => {
    const keys = `e1:${"B".repeat(43)}`;
    const signature = await new EdgeSigner(parseKeyRing(keys)).sign(testTime / 1000);
    const ofEdge = [`headers.get(${edgeSignatureHeader})`, "headers.get(traceparent)"];
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
    expect(reads.filter((read) => !readOfEach.includes(read))).toEqual([
      `headers.get(${edgeSignatureHeader})`,
    ]);
    testOrigin.watcher.close();
  });
});

test.each<[string, (request: Request) => unknown]>([
  ["a field", (request) => request.headers.get("Cookie")],
  ["a copy by spreading", (request) => ({ ...request })],
  ["a copy as a Request", (request) => new Request(request)],
  ["a clone", (request) => request.clone()],
  ["the fields as a list", (request) => [...request.headers]],
  ["the fields as JSON", (request) => JSON.stringify(request.headers)],
  ["a copy of the fields", (request) => new Headers(request.headers)],
  ["each field", (request) => request.headers.forEach(() => {})],
  ["the body", (request) => request.text()],
])("the recorder sees %s", (_name, read) => {
  const { request, reads } = recordReads(new Request("http://origin.test/", { headers: fieldsOfVisitor }));
  read(request);
  expect([...reads].filter((name) => !readOfEach.includes(name))).not.toEqual([]);
});

test("the recorder gives no field to native code that looks behind it", () => {
  const { request } = recordReads(new Request("http://origin.test/", { headers: fieldsOfVisitor }));
  const seen = Bun.inspect(request) + Bun.inspect(request.headers);
  for (const value of Object.values(fieldsOfVisitor)) expect(seen).not.toContain(value);
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

/**
 * A Request that records what is read of it: its members by name, its header fields one by one. Only `headers.get` gives
 * the values of header fields; anything else finds none, also native code that looks behind a Proxy (Bun.inspect).
 */
function recordReads(request: Request): { request: Request; reads: Set<string> } {
  const reads = new Set<string>();
  const headers = record(new Headers(), {
    read: (name) => reads.add(`headers.${name}`),
    members: {
      get: (field: string) => {
        reads.add(`headers.get(${field.toLowerCase()})`);
        return request.headers.get(field);
      },
    },
  });
  const bare = new Request(request.url, { method: request.method });
  return { request: record(bare, { read: (name) => reads.add(name), members: { headers } }), reads };
}

/** A stand-in for an object, some of whose members are replaced. `read` is called for the names of all others, too. */
function record<T extends object>(
  target: T,
  { read, members }: { read: (name: string) => void; members: Record<string, unknown> },
): T {
  return new Proxy(target, {
    get(_, key) {
      const name = String(key);
      const replaced = members[name];
      if (typeof replaced === "function") return replaced; // records its calls itself
      read(name);
      const value = replaced ?? Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
    has(_, key) {
      read(`${String(key)} in`);
      return Reflect.has(target, key);
    },
    ownKeys() {
      read("all keys");
      return Reflect.ownKeys(target);
    },
  });
}
