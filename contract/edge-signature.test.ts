import { expect, test } from "bun:test";
import { edgePayload, readEdgeSignature, signEdgeRequest, validateEdgeSignature } from "./edge-signature.ts";
import { hmacSha256 } from "./hmac.ts";
import { parseKeyRing } from "./key-ring.ts";

const ring = parseKeyRing(`e2:${"B".repeat(43)},e1:${"A".repeat(43)}`);
const request = { method: "GET", target: "/api/trending?region=DE" };
const seconds = 1_795_171_200;

async function judge(header: string, sent = request, now = seconds) {
  const signature = readEdgeSignature(header);
  const key = ring.get(signature?.kid ?? "");
  if (signature === null || key === undefined) return null;
  return validateEdgeSignature(signature, {
    hmac: await hmacSha256(key, edgePayload(sent, signature)),
    seconds: now,
  });
}

test("what the edge signs, the origin accepts", async () => {
  const header = await signEdgeRequest(request, { ring, seconds });
  expect(header).toStartWith(`v1.e2.${seconds}.`);
  expect(await judge(header)).toBe("valid");
});

test.each([
  { name: "another method", sent: { ...request, method: "HEAD" }, verdict: "tampered" },
  { name: "another path", sent: { ...request, target: "/api/regions" }, verdict: "tampered" },
  { name: "another query", sent: { ...request, target: "/api/trending?region=FR" }, verdict: "tampered" },
  { name: "60 seconds later", now: seconds + 60, verdict: "valid" },
  { name: "61 seconds later", now: seconds + 61, verdict: "outside-window" },
  { name: "60 seconds earlier", now: seconds - 60, verdict: "valid" },
  { name: "no clock", now: Number.NaN, verdict: "outside-window" },
  { name: "61 seconds earlier", now: seconds - 61, verdict: "outside-window" },
])("a signature used with $name is $verdict", async ({ sent, now, verdict }) => {
  const header = await signEdgeRequest(request, { ring, seconds });
  expect(String(await judge(header, sent, now))).toBe(verdict);
});

test.each([
  "",
  "v1",
  "v2.e2.1.x",
  `v1.e2.01.${"A".repeat(43)}`,
  `v1.e2.1.${"A".repeat(42)}`,
  `v1..1.${"A".repeat(43)}`,
])("the header %p is malformed", (header) => {
  expect(readEdgeSignature(header)).toBeNull();
});
