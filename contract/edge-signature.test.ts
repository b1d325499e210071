import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { parseKeyRing } from "./keys.ts";
import { acceptedMinutes, EdgeSigner, edgeMinute } from "./request-signatures.ts";

const [firstKey, secondKey] = ["B".repeat(43), "C".repeat(43)];
const ring = parseKeyRing(`e2:${firstKey},e1:${secondKey}`);
const seconds = 1_795_171_200;

test("a signature names the first key and the minute, and its mac covers both after a prefix of its own", async () => {
  const payload = `trendvault-edge\nv2\ne2\n${seconds / 60}`;
  const mac = createHmac("sha256", Buffer.from(firstKey, "base64url")).update(payload).digest("base64url");
  expect(await new EdgeSigner(ring).sign(seconds)).toBe(`v2.e2.${seconds / 60}.${mac}`);
});

test("a signature is made once a minute, also when two requests need it at once", async () => {
  const signer = new EdgeSigner(ring);
  const [first, second] = await Promise.all([signer.sign(seconds), signer.sign(seconds + 59.9)]);
  expect(second).toBe(first);
  let hashed = 0;
  const { sign } = crypto.subtle;
  crypto.subtle.sign = (...handed) => {
    hashed++;
    return sign.apply(crypto.subtle, handed);
  };
  try {
    for (let second = 0; second < 60; second++) expect(await signer.sign(seconds + second)).toBe(first);
    expect(hashed).toBe(0);
    expect(await signer.sign(seconds + 60)).not.toBe(first);
    expect(hashed).toBe(1);
  } finally {
    crypto.subtle.sign = sign;
  }
});

test("a clock that goes back signs with its own minute", async () => {
  const signer = new EdgeSigner(ring);
  const before = await signer.sign(seconds);
  await signer.sign(seconds + 60);
  expect(await signer.sign(seconds)).toBe(before);
});

test("clocks may differ by a minute", () => {
  expect(acceptedMinutes(edgeMinute(seconds)).toSorted()).toEqual(
    [seconds - 60, seconds, seconds + 119].map(edgeMinute),
  );
});
