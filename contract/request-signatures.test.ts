import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { drawsOf, Random } from "@trendvault/kit/random";
import { parseKeyRing } from "./keys.ts";
import vectorFile from "./pull-vectors.json";
import { acceptedSignatures, EdgeSigner, edgeMinute, verifyPull } from "./request-signatures.ts";

const [firstKey, secondKey] = ["B".repeat(43), "C".repeat(43)];
const edgeRing = parseKeyRing(`e2:${firstKey},e1:${secondKey}`);
const seconds = 1_795_171_200;

test("a signature names the first key and the minute, and its mac covers both after a prefix of its own", async () => {
  const payload = `trendvault-edge\nv2\ne2\n${seconds / 60}`;
  const mac = createHmac("sha256", Buffer.from(firstKey, "base64url")).update(payload).digest("base64url");
  expect(await new EdgeSigner(edgeRing).sign(seconds)).toBe(`v2.e2.${seconds / 60}.${mac}`);
});

test("a signature is made once a minute, also when two requests need it at once", async () => {
  const signer = new EdgeSigner(edgeRing);
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
  const signer = new EdgeSigner(edgeRing);
  const before = await signer.sign(seconds);
  await signer.sign(seconds + 60);
  expect(await signer.sign(seconds)).toBe(before);
});

test("clocks may differ by a minute", async () => {
  const hmac = (text: string) =>
    createHmac("sha256", Buffer.from(firstKey, "base64url")).update(text).digest("base64url");
  const signer = new EdgeSigner(edgeRing);
  const signed = [seconds, seconds - 60, seconds + 119].map((at) => signer.sign(at));
  expect(acceptedSignatures("e2", edgeMinute(seconds), hmac)).toEqual(await Promise.all(signed));
});

type Vector = {
  name: string;
  method: string;
  path: string;
  query: string;
  parameters?: { created: number; nonce: string; keyid: string };
  signature_input: string;
  signature: string;
  now?: number;
  expect: Awaited<ReturnType<typeof verifyPull>>;
};
const vectors = vectorFile.vectors as Vector[];
const ring = parseKeyRing(vectorFile.keys);
const random = new Random();

function verify(vector: Vector, now = vector.now ?? vectorFile.now) {
  const { method, path, query, signature_input, signature } = vector;
  return verifyPull(
    { method, path, query, fields: { "signature-input": signature_input, signature } },
    ring,
    now,
  );
}

describe("pull vector", () => {
  test.each(vectors)("$name", async (vector) => {
    expect(await verify(vector)).toBe(vector.expect);
  });

  const valid = vectors.filter(({ parameters }) => parameters !== undefined);
  test.each(valid)("signed again: $name", (vector) => {
    const { method, path, query, parameters, signature_input, signature } = vector;
    const { created, nonce, keyid = "" } = parameters ?? {};
    const key = ring.get(keyid) as Uint8Array<ArrayBuffer>;
    const input = `("@method" "@path" "@query");created=${created};nonce="${nonce}";keyid="${keyid}";alg="hmac-sha256"`;
    expect(signature_input).toBe(`pull=${input}`);
    const base = `"@method": ${method}\n"@path": ${path}\n"@query": ${query || "?"}\n"@signature-params": ${input}`;
    expect(signature).toBe(`pull=:${createHmac("sha256", key).update(base).digest("base64")}:`);
  });

  test("every verdict has one", () => {
    expect([...new Set(vectors.map((vector) => vector.expect))].sort()).toEqual([
      "not-now",
      "tampered",
      "unknown-key",
      "unsigned",
      "valid",
    ]);
  });
});

test(`one character changed anywhere is refused (TEST_SEED=${random.seed})`, async () => {
  const [vector] = vectors as [Vector];
  for (let draw = 0; draw < drawsOf({ usual: 500, long: 20_000 }); draw++) {
    const member = random.pick(["method", "path", "query", "signature_input", "signature"] as const);
    const text = vector[member];
    const at = random.below(text.length);
    const character = random.pick([..."aZ09=+-_:;\"' ", ""]);
    const changed = text.slice(0, at) + character + text.slice(at + 1);
    if (changed === text) continue;
    const verdict = await verify({ ...vector, [member]: changed });
    if (verdict === "valid") expect({ member, changed }).toBeNull();
  }
});

test("without a clock nothing is now", async () => {
  expect(await verify(vectors[0] as Vector, Number.NaN)).toBe("not-now");
});
