import { expect, test } from "bun:test";
import { parseKeyRing, toBase64url } from "./keys.ts";

const key = "B".repeat(43);
const zeros = "A".repeat(43); // 32 bytes

test("keys keep their order, and the first one signs", () => {
  const ring = parseKeyRing(`new:${key}, old:${key}`);
  expect([...ring.keys()]).toEqual(["new", "old"]);
  expect([...ring.keys()][0]).toBe("new");
});

test("a key id has 1 to 16 letters or digits", () => {
  const longest = "aB3".repeat(5) + "z";
  expect([...parseKeyRing(`7:${key},${longest}:${key}`).keys()]).toEqual(["7", longest]);
  expect(() => parseKeyRing(`${longest}z:${key}`)).toThrow("entry 1 does not begin with a key id");
});

test.each([
  ["", "entry 1 does not begin with a key id"],
  [key, "entry 1 does not begin with a key id"],
  [`k1:${key},`, "entry 2 does not begin with a key id"],
  [`k.1:${key}`, "entry 1 does not begin with a key id"],
  ["k1:not base64url!", "the key of k1 is not base64url"],
  [`k1:${"A".repeat(42)}`, "the key of k1 has 31 bytes, at least 32 are needed"],
  [`k2:${key},k1:${zeros}`, "the key of k1 is one byte repeated: make a random one"],
  [`k1:${toBase64url(new Uint8Array(40).fill(0xfe))}`, "the key of k1 is one byte repeated"],
  [`k1:${key},k1:${key}`, "key id k1 is used twice"],
])("a ring written as %p is refused with the reason", (text, reason) => {
  expect(() => parseKeyRing(text)).toThrow(reason);
});

test("a refusal never repeats the key", () => {
  const secret = "s3cret!".repeat(9);
  expect(() => parseKeyRing(`k1:${secret}`)).toThrow(expect.not.stringContaining(secret));
});
