import { expect, test } from "bun:test";
import { parseKeyRing } from "@trendvault/contract/key-ring";
import { readToken, signToken, type TokenVerdict, validateToken } from "@trendvault/contract/token";
import vectorFile from "@trendvault/contract/token-vectors.json";
import { tokenSigner } from "./token-signer.ts";

const ring = parseKeyRing(vectorFile.keys.map(({ kid, key }) => `${kid}:${key}`).join(","));
const claims = { region: "DE", count: 24, minute: vectorFile.now_minute };
const keyed = new Map([...ring].map(([kid, key]) => [kid, new Bun.CryptoHasher("sha256", key)]));

// The verdict of verifyToken, with a hash that does not wait: WebCrypto would make this test take minutes.
function judge(token: string): TokenVerdict {
  const parts = readToken(token);
  if (parts === null) return "malformed";
  const hasher = keyed.get(parts.kid);
  if (hasher === undefined) return "unknown-key";
  const hmac = hasher.copy().update(parts.payload).digest("base64url");
  return validateToken(parts, { hmac, minute: vectorFile.now_minute });
}

test("it signs as the contract does", async () => {
  expect(tokenSigner(ring)(claims)).toBe(await signToken(claims, ring));
  expect(judge(tokenSigner(ring)(claims))).toBe("valid");
});

// A small generator with a fixed seed (xorshift32), so that a failure can be run again.
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.+/= \n\0é";

/** Changes, removes, inserts or swaps characters, or takes another token's field: never gives the same text. */
function mutate(token: string, random: (below: number) => number): string {
  const at = random(token.length);
  const letter = alphabet[random(alphabet.length)] ?? "";
  switch (random(5)) {
    case 0:
      return token.slice(0, at) + letter + token.slice(at + 1);
    case 1:
      return token.slice(0, at) + token.slice(at + 1 + random(3));
    case 2:
      return token.slice(0, at) + letter + token.slice(at);
    case 3:
      return (
        token.slice(0, at) +
        token
          .slice(at, at + 2)
          .split("")
          .reverse()
          .join("") +
        token.slice(at + 2)
      );
    default: {
      const field = random(6);
      const other = [
        "v2",
        "k1",
        "FR",
        String(random(51)),
        String(vectorFile.now_minute - random(30)),
        token.slice(-22).toLowerCase(),
      ];
      return token
        .split(".")
        .map((part, index) => (index === field ? (other[field] ?? "") : part))
        .join(".");
    }
  }
}

test("of a million mutated tokens none is accepted", () => {
  const random = randomNumbers(20_261_120);
  const sign = tokenSigner(ring);
  const accepted: string[] = [];
  let tried = 0;
  while (tried < 1_000_000) {
    const token = sign({ ...claims, count: random(51), minute: vectorFile.now_minute - random(15) });
    const changed = random(4) === 0 ? mutate(mutate(token, random), random) : mutate(token, random);
    if (changed === token) continue;
    tried++;
    if (judge(changed) === "valid") accepted.push(`${token} -> ${changed}`);
  }
  expect(accepted).toEqual([]);
}, 60_000);
