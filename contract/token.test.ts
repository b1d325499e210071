import { describe, expect, test } from "bun:test";
import { Random } from "@trendvault/kit/random";
import { TestTokenSigner } from "@trendvault/kit/signers";
import { compactVerify, createLocalJWKSet, errors } from "jose";
import type { PublicKeySet } from "./keys.ts";
import { windows } from "./lists.ts";
import {
  claimsOf,
  longestToken,
  type TokenList,
  type TokenVerdict,
  tokenListName,
  verifyToken,
} from "./token.ts";
import vectorFile from "./token-vectors.json";

/** `signature` says whether a JOSE library finds a good one; it is not there where libraries differ. */
type Vector = { name: string; token: string; now?: number; expect: TokenVerdict; signature?: boolean };
const vectors = vectorFile.vectors as Vector[];
const vectorKeys: PublicKeySet = { keys: vectorFile.keys as PublicKeySet["keys"] };

describe("token vector", () => {
  test.each(vectors)("$name", async ({ token, now = vectorFile.now, expect: expected }) => {
    expect((await verifyToken(token, vectorKeys, { now })).verdict).toBe(expected);
  });

  const judgedAlike = vectors.filter((vector) => vector.signature !== undefined);
  test.each(judgedAlike)("for the JOSE library: $name", async ({ token, signature }) => {
    const tokenKeys = vectorKeys.keys.filter(({ purpose }) => purpose === "tokens");
    const verified = compactVerify(token, createLocalJWKSet({ keys: tokenKeys }), { algorithms: ["EdDSA"] });
    expect(await verified.then(() => true, isRefusal)).toBe(signature === true);
  });

  test("every verdict has one", () => {
    expect([...new Set(vectors.map((vector) => vector.expect))].sort()).toEqual([
      "expired",
      "malformed",
      "not-yet-valid",
      "tampered",
      "unknown-key",
      "valid",
    ]);
  });
});

function isRefusal(error: unknown): false {
  if (error instanceof errors.JOSEError || error instanceof TypeError) return false;
  throw error;
}

const signer = await TestTokenSigner.create();
const minute = 29_919_600;
const now = minute * 60;
const list: TokenList = { region: "GB", window: "day", category: "", generation: 4711, offset: 0, count: 24 };

function sha256(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("base64url");
}

test("a token says which page of which list was served, and when", async () => {
  const token = await signer.sign(claimsOf({ ...list, category: "News/Politics", offset: 24 }, minute));
  expect(await verifyToken(token, signer.publicKeys, { now })).toEqual({
    verdict: "valid",
    claims: {
      issuedAt: now,
      expiresAt: now + 900,
      list: { ...list, category: "News/Politics", offset: 24 },
    },
  });
});

test("a caller may take a token for longer than its own quarter of an hour", async () => {
  const token = await signer.sign(claimsOf(list, minute));
  const verdictAt = async (seconds: number, acceptedSeconds = 900) =>
    (await verifyToken(token, signer.publicKeys, { now: now + seconds, acceptedSeconds })).verdict;
  expect(await verdictAt(901)).toBe("expired");
  expect(await verdictAt(901, 2520)).toBe("valid");
  expect(await verdictAt(2521, 2520)).toBe("expired");
  expect(await verdictAt(Number.NaN)).toBe("expired");
});

test("the token of a list over all categories has about 200 characters", async () => {
  expect((await signer.sign(claimsOf(list, minute))).length).toBeLessThanOrEqual(240);
});

const random = new Random();

test(`no token is longer than 400 characters, whatever the category is called (seed ${random.seed})`, async () => {
  const letters = ["a", "/", '"', "\\", "é", "語", "\u{1F3AC}", "#", " ", "\u0001", "+", "1"];
  for (let round = 0; round < 2000; round++) {
    const category = Array.from({ length: 1 + random.below(60) }, () => random.pick(letters)).join("");
    const named = { ...list, window: random.pick(windows), category: tokenListName({ category }, sha256) };
    const generation = 1 + random.below(999_999_999_999_999);
    const claims = claimsOf({ ...named, generation, offset: 50, count: 50 }, minute);
    const token = await signer.sign(claims);
    expect(token.length).toBeLessThanOrEqual(longestToken);
    expect(await verifyToken(token, signer.publicKeys, { now })).toEqual({ verdict: "valid", claims });
  }
});

test("the key of the responses' signatures signs no token", async () => {
  const token = await signer.sign(claimsOf(list, minute));
  const keys = signer.publicKeys.keys.map((key) => ({ ...key, purpose: "responses" as const }));
  expect((await verifyToken(token, { keys }, { now })).verdict).toBe("unknown-key");
});

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.+/= \n\0é";

/** Changes, removes, inserts or swaps characters, or takes a part of another token. */
function mutate(token: string, other: string): string {
  const at = random.below(token.length);
  const [before, after] = [token.slice(0, at), token.slice(at + 1)];
  switch (random.below(5)) {
    case 0:
      return before + random.pick([...alphabet]) + after;
    case 1:
      return before + after.slice(random.below(3));
    case 2:
      return before + random.pick([...alphabet]) + token.slice(at);
    case 3:
      return before + after.slice(0, 1) + token.slice(at, at + 1) + after.slice(1);
    default: {
      const part = random.below(3);
      const theirs = other.split(".");
      return token
        .split(".")
        .map((own, index) => (index === part ? theirs[index] : own))
        .join(".");
    }
  }
}

test(`of 20,000 changed tokens none is valid (seed ${random.seed})`, async () => {
  const tokens = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      signer.sign(
        claimsOf({ ...list, offset: 24 * (index % 5), generation: 4700 + index }, minute - (index % 10)),
      ),
    ),
  );
  const accepted: string[] = [];
  for (let tried = 0; tried < 20_000; tried++) {
    const changed = mutate(random.pick(tokens), random.pick(tokens));
    if (tokens.includes(changed)) continue;
    if ((await verifyToken(changed, signer.publicKeys, { now })).verdict === "valid") accepted.push(changed);
  }
  expect(accepted).toEqual([]);
}, 1_200_000);
