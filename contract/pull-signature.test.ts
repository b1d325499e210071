import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { parseKeyRing } from "./keys.ts";
import vectorFile from "./pull-vectors.json";
import { type PullParameters, type PullVerdict, signPull, verifyPull } from "./request-signatures.ts";
import { drawsOf, Random } from "./test-support/random.ts";

type Vector = {
  name: string;
  method: string;
  path: string;
  query: string;
  parameters?: PullParameters;
  signature_input: string;
  signature: string;
  now?: number;
  expect: PullVerdict;
};
const vectors = vectorFile.vectors as Vector[];
const ring = parseKeyRing(vectorFile.keys);
const random = new Random();

function verify(vector: Vector, now = vector.now ?? vectorFile.now): Promise<PullVerdict> {
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
  test.each(valid)("signed again: $name", async (vector) => {
    const { method, path, query, parameters, signature_input, signature } = vector;
    const key = ring.get(parameters?.keyid ?? "") as Uint8Array<ArrayBuffer>;
    const fields = await signPull({ method, path, query }, parameters as PullParameters, key);
    expect(fields).toEqual({ "signature-input": signature_input, signature });
    const input = signature_input.slice("pull=".length);
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
