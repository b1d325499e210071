import { expect, test } from "bun:test";
import { memoizedChooseEncoding } from "./representation.ts";

const encodings = ["identity", "br", "zstd", "gzip"]; // in the order of representations

test.each([
  [null, "identity"],
  ["", "identity"],
  ["gzip, deflate, br, zstd", "br"],
  ["gzip, deflate", "gzip"],
  ["zstd, gzip", "zstd"],
  ["br;q=0.5, gzip;q=0.9", "gzip"],
  ["br;q=0.5, gzip;q=0.5", "br"],
  ["BR", "br"],
  ["x-gzip", "gzip"],
  ["br ; q=1.000", "br"],
  ["*", "br"],
  ["*;q=0.5, gzip", "gzip"],
  ["br;q=0, *", "zstd"],
  ["deflate", "identity"],
  ["identity", "identity"],
  ["identity;q=1, br;q=0.5", "identity"],
  ["identity;q=0.5, br;q=0.5", "br"],
  ["br;q=0", "identity"],
  ["br;q=0.001", "br"],
  ["br;q=2", "identity"],
  ["br;q=1.1", "identity"],
  ["br;q=abc, gzip", "gzip"],
  ["identity;q=0, gzip", "gzip"],
  ["identity;q=0", null],
  ["*;q=0", null],
  ["*;q=0, identity;q=0.1", "identity"],
  ["deflate, identity;q=0", null],
  [",,, gzip ,", "gzip"],
])("Accept-Encoding %p is answered with %p", (header, expected) => {
  const choose = memoizedChooseEncoding();
  for (let times = 0; times < 2; times++) {
    const chosen = choose(header);
    expect(chosen === null ? null : (encodings[chosen] ?? "")).toBe(expected);
  }
});

test("a flood of different headers does not change what is answered", () => {
  const choose = memoizedChooseEncoding(4);
  for (let i = 0; i < 100; i++) expect(choose(`br;q=0.${i}`)).toBe(i === 0 ? 0 : 1);
  expect(choose("identity;q=0")).toBeNull();
  expect(choose("identity;q=0")).toBeNull();
});
