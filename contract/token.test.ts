import { expect, test } from "bun:test";
import { parseKeyRing } from "./key-ring.ts";
import { signToken, type TokenVerdict, verifyToken } from "./token.ts";
import vectorFile from "./token-vectors.json";

type Vector = { name: string; token: string; now_minute?: number; expect: string };
const vectors: Vector[] = vectorFile.vectors;
const ring = parseKeyRing(vectorFile.keys.map(({ kid, key }) => `${kid}:${key}`).join(","));

test.each(vectors)("token vector: $name", async (vector) => {
  const minute = vector.now_minute ?? vectorFile.now_minute;
  expect(await verifyToken(vector.token, { ring, minute })).toBe(vector.expect as TokenVerdict);
});

test("without a clock, no token is valid", async () => {
  const token = vectors[0]?.token ?? "";
  expect(await verifyToken(token, { ring, minute: Number.NaN })).toBe("expired");
});

test("every verdict has a vector", () => {
  const verdicts = new Set(vectors.map((vector) => vector.expect));
  expect([...verdicts].sort()).toEqual([
    "expired",
    "malformed",
    "not-yet-valid",
    "tampered",
    "unknown-key",
    "valid",
  ]);
});

test("the first key of the ring signs", async () => {
  const first = vectors[0];
  const claims = { region: "DE", count: 24, minute: vectorFile.now_minute };
  expect(await signToken(claims, ring)).toBe(first?.token ?? "");
});
