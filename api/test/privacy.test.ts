import { expect, test } from "bun:test";
import { join, relative } from "node:path";
import { DatabaseBuilder, videos } from "../test-support/database-builder.ts";
import { OriginProcess } from "../test-support/origin-process.ts";
import { RawClient } from "../test-support/raw-client.ts";
import { until } from "../test-support/until.ts";

const root = join(import.meta.dir, "../..");
const sources = ["api/src/**/*.ts", "contract/*.ts"]
  .flatMap((pattern) => [...new Bun.Glob(pattern).scanSync(root)])
  .filter((path) => !path.endsWith(".test.ts"));

async function findInSources(pattern: RegExp): Promise<string[]> {
  const found: string[] = [];
  for (const path of sources) {
    for (const match of (await Bun.file(join(root, path)).text()).matchAll(pattern)) {
      found.push(`${relative(root, join(root, path))}: ${match[0]}`);
    }
  }
  return found;
}

test("the source reads four fields of a request, and nothing that says who asks", async () => {
  expect(sources.length).toBeGreaterThan(40);
  const read = (await findInSources(/request\??\.headers\.get\(([^)]*)\)/g)).map(
    (line) => line.split("get(")[1],
  );
  expect([...new Set(read)].sort()).toEqual([
    '"accept-encoding")',
    '"if-none-match")',
    '"traceparent")',
    "edgeSignatureHeader)",
  ]);
  const forbidden =
    /requestIP|remoteAddress|user-agent|x-forwarded|x-real-ip|cf-connecting|cookie|referer|headers\.(entries|forEach|toJSON|values)|\.\.\.request/gi;
  expect(await findInSources(forbidden)).toEqual([]);
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

test("answers are the same bytes for everybody, and nobody leaves a trace", async () => {
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
  return /"token":"v1\.[^.]+\.[^.]+\.[^.]+\.([0-9]+)/.exec(body)?.[1];
}
