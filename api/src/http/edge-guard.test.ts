import { afterAll, beforeAll, expect, test } from "bun:test";
import { edgeSignatureHeader, signEdgeRequest } from "@trendvault/contract/edge-signature";
import { parseKeyRing } from "@trendvault/contract/key-ring";
import { DatabaseBuilder, videos } from "../../test-support/database-builder.ts";
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
  origin.watch.close();
  builder.remove();
});

async function statusFor(signature: string | null, sent = target, method = "GET"): Promise<number> {
  const headers = signature === null ? {} : { [edgeSignatureHeader]: signature };
  return (await origin.ask(sent, { method, headers })).status;
}

test("what the edge has signed is answered, again and again", async () => {
  const signature = await signEdgeRequest(
    { method: "GET", target },
    { ring: parseKeyRing(EDGE_KEYS), seconds },
  );
  for (let i = 0; i < 3; i++) expect(await statusFor(signature)).toBe(200);
});

test("both live keys are accepted, any other is not", async () => {
  for (const [ring, status] of [
    [`old:${"C".repeat(43)}`, 200],
    [`old:${"D".repeat(43)}`, 403],
    [`other:${"B".repeat(43)}`, 403],
  ] as const) {
    const signature = await signEdgeRequest({ method: "GET", target }, { ring: parseKeyRing(ring), seconds });
    expect(await statusFor(signature)).toBe(status);
  }
});

test("a signature is good for its method, its path and query, and a minute", async () => {
  const ring = parseKeyRing(EDGE_KEYS);
  const signature = await signEdgeRequest({ method: "GET", target }, { ring, seconds });
  expect(await statusFor(signature, "/api/trending?region=DE")).toBe(403);
  expect(await statusFor(signature, "/api/regions")).toBe(403);
  expect(await statusFor(signature, target, "HEAD")).toBe(403);
  const old = await signEdgeRequest({ method: "GET", target }, { ring, seconds: seconds - 61 });
  expect(await statusFor(old)).toBe(403);
});

test("without one, everything is 403 but /healthz, also what is in memory and what does not exist", async () => {
  for (const sent of [target, "/api/regions", "/openapi.json", "/none"])
    expect(await statusFor(null, sent)).toBe(403);
  expect(await statusFor("v1.garbage")).toBe(403);
  expect(await statusFor(null, "/healthz")).toBe(200);
});
