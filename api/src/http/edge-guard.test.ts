import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { parseKeyRing } from "@trendvault/contract/keys";
import {
  EdgeSigner,
  edgePayload,
  edgeSignatureHeader,
  formatEdgeSignature,
} from "@trendvault/contract/request-signatures";
import { drawsOf, testSeed } from "@trendvault/contract/test-support/random";
import { DatabaseBuilder, videos } from "../../test-support/database-builder.ts";
import { randomNumbers } from "../../test-support/random-numbers.ts";
import { RawClient } from "../../test-support/raw-client.ts";
import { openTestOrigin, type TestOrigin, testTime } from "../../test-support/test-origin.ts";

const EDGE_KEYS = `new:${"B".repeat(43)},old:${"C".repeat(43)}`;
const target = "/api/trending?region=GB";
const seconds = testTime / 1000;

let builder: DatabaseBuilder;
let origin: TestOrigin;

beforeAll(async () => {
  builder = new DatabaseBuilder();
  builder.publish([{ region: "GB", videos: videos(3) }]);
  origin = await openTestOrigin(builder.path, { EDGE_KEYS });
});
afterAll(() => {
  origin.watcher.close();
  builder.remove();
});

const sign = (keys = EDGE_KEYS, at = seconds) => new EdgeSigner(parseKeyRing(keys)).sign(at);

async function statusFor(signature: string | null, sent = target, method = "GET"): Promise<number> {
  const headers = signature === null ? {} : { [edgeSignatureHeader]: signature };
  return (await origin.ask(sent, { method, headers })).status;
}

test("what the edge sends in a minute is answered, whatever it asks, again and again", async () => {
  const signature = await sign();
  for (let i = 0; i < 3; i++) expect(await statusFor(signature)).toBe(200);
  expect(await statusFor(signature, "/api/regions")).toBe(200);
  expect(await statusFor(signature, target, "HEAD")).toBe(200);
  expect(await statusFor(signature, "/none")).toBe(404);
});

test.each([
  [`old:${"C".repeat(43)}`, 200],
  [`old:${"D".repeat(43)}`, 403],
  [`new:${"C".repeat(43)}`, 403],
  [`other:${"B".repeat(43)}`, 403],
])("both live keys are accepted under their ids, any other is not: %s", async (keys, status) => {
  expect(await statusFor(await sign(keys))).toBe(status);
});

test.each([
  [-2, 403],
  [-1, 200],
  [1, 200],
  [2, 403],
])("a signature of the minute %p is answered with %p", async (minutes, status) => {
  expect(await statusFor(await sign(EDGE_KEYS, seconds + minutes * 60))).toBe(status);
});

test("what was accepted is refused two minutes later, also when its answer is in the cache", async () => {
  const passing = await openTestOrigin(builder.path, { EDGE_KEYS });
  const headers = { [edgeSignatureHeader]: await sign() };
  const ask = async () => (await passing.ask(target, { headers })).status;
  expect([await ask(), await ask()]).toEqual([200, 200]);
  passing.pass(60_000);
  expect(await ask()).toBe(200);
  passing.pass(60_000);
  expect(await ask()).toBe(403);
  passing.watcher.close();
});

test("without one, everything is 403 but /healthz, also what is in the cache and what does not exist", async () => {
  expect(await statusFor(await sign())).toBe(200);
  for (const sent of [target, "/api/regions", "/openapi.json", "/.well-known/jwks.json", "/none"])
    expect(await statusFor(null, sent)).toBe(403);
  expect(await statusFor("v2.garbage")).toBe(403);
  expect(await statusFor(null, "/healthz")).toBe(200);
});

const { fraction, integer, pick } = randomNumbers(testSeed);
const randomText = (length: number, letters: string) =>
  Array.from({ length }, () => pick([...letters])).join("");
const base64url = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const printable = `${base64url}.,;:!"#$%&'()*+/<=>?@[]^\`{|}~\u00e9\u00ff`;

const minute = Math.floor(seconds / 60);

/** A signature in the right form that differs in what is given. */
function forge(given: { minute?: number; key?: string; payload?: string }): string {
  const stamp = { kid: "new", minute: given.minute ?? minute };
  const hmac = createHmac("sha256", Buffer.from(given.key ?? "B".repeat(43), "base64url"));
  return formatEdgeSignature(stamp, hmac.update(given.payload ?? edgePayload(stamp)).digest("base64url"));
}

/** Kinds of wrong signatures; each is made from a right one. */
const forgeries: Record<string, (right: string) => string> = {
  "random characters": () => randomText(integer(1, 200), printable),
  "random characters of the right length": (right) => randomText(right.length, printable),
  "a right beginning and a random mac": (right) => right.slice(0, -43) + randomText(43, base64url),
  "another minute": () => forge({ minute: minute + pick([-1, 1]) * integer(2, 1_000_000) }),
  "another minute beside the mac of this one": (right) =>
    right.replace(String(minute), String(minute + integer(1, 9))),
  "another key id": (right) => right.replace("new", randomText(integer(1, 16), base64url.slice(0, 52))),
  "the id of the other key": (right) => right.replace("new", "old"),
  "another key": () => forge({ key: `${randomText(42, base64url)}A` }),
  "the mac of another payload": () => forge({ payload: randomText(integer(1, 60), printable) }),
  "the form of before": () =>
    `v1.new.${seconds}.${forge({ payload: `v1\nnew\n${seconds}\nGET\n${target}` }).slice(-43)}`,
  truncated: (right) => right.slice(0, integer(1, right.length - 1)),
  "the end of it": (right) => right.slice(integer(1, right.length - 1)),
  longer: (right) => right + randomText(integer(1, 20), base64url),
  repeated: (right) => right + pick([", ", ",", ".", ""]) + right,
  "one character changed": (right) => {
    const at = integer(0, right.length - 1);
    return right.slice(0, at) + pick([...printable]) + right.slice(at + 1);
  },
  "other case": (right) => (fraction() < 0.5 ? right.toUpperCase() : right.toLowerCase()),
  quoted: (right) => `"${right}"`,
};

test(`of signatures that are forged at random none is accepted (TEST_SEED=${testSeed})`, async () => {
  const right = await sign();
  const accepted: string[] = [];
  for (const [kind, make] of Object.entries(forgeries)) {
    for (let i = 0; i < drawsOf({ usual: 300, long: 20_000 }); i++) {
      const forged = make(right);
      if (forged !== right && (await statusFor(forged)) !== 403) accepted.push(`${kind}: ${forged}`);
    }
  }
  expect(accepted).toEqual([]);
  expect(await statusFor(right)).toBe(200);
}, 1_200_000);

test("on the wire the field's name may be in any case and the value may not, and only one field counts", async () => {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: origin.origin.answer });
  const client = new RawClient(server.url.href);
  const right = await sign();
  const ask = async (headers: string) => (await client.get(target, headers)).status;
  expect(await ask(`X-Edge-SIGNATURE: ${right}\r\n`)).toBe(200);
  expect(await ask(`x-edge-signature: \t ${right} \r\n`)).toBe(200);
  for (const [first, second] of [
    [right, right],
    [right, "v2.garbage"],
    ["v2.garbage", right],
    ["", right],
  ]) {
    const status = await ask(`x-edge-signature: ${first}\r\nX-Edge-Signature: ${second}\r\n`);
    expect([first, second, status]).toEqual([first, second, 403]);
  }
  expect(await ask(`x-edge-signature: ${right.toUpperCase()}\r\n`)).toBe(403);
  expect(await ask("x-edge-signature:\r\n")).toBe(403);
  expect(await ask(`x-edge-signature: ${right}\r\n`)).toBe(200);
  client.close();
  await server.stop(true);
});
