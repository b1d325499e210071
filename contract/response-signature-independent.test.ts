import { describe, expect, test } from "bun:test";
import { createSignature, webcrypto } from "http-message-sig";
import { coveredComponents, coveredFields } from "./signature-base.ts";
import { verifyIndependently } from "./test-support/independent-verifiers.ts";
import { created, fields, signer, text, verify } from "./test-support/signed-example.ts";

describe("an independent implementation of RFC 9421", () => {
  const message = (headers: Record<string, string>) => ({
    kind: "response" as const,
    status: 200,
    fields: Object.entries(headers).map(([name, value]) => ({ name, value })),
  });

  test.each([200, 404])("verifies what we sign with status %p", async (status) => {
    const body = { status, created: Math.floor(Date.now() / 1000) };
    const headers = new Headers(await signer.sign(text, body));
    await verifyIndependently({ status, headers }, signer.publicKeys);
    for (const name of coveredFields) {
      const changed = new Headers({ ...Object.fromEntries(headers), [name]: '"other"' });
      await expect(verifyIndependently({ status, headers: changed }, signer.publicKeys)).rejects.toThrow();
    }
  });

  test.each([
    [{ created, keyid: "s1", alg: "ed25519" }],
    [{ alg: "ed25519", keyid: "s1", created }],
    [{ keyid: "s1", created, alg: "ed25519" }],
  ])("signs what we verify, with the parameters %j", async (parameters) => {
    const { signature: _, "signature-input": __, ...unsigned } = fields;
    const independent = await createSignature(message(unsigned), {
      label: "independent",
      components: coveredComponents,
      parameters,
      signer: webcrypto.signer(signer.keyPair.privateKey),
    });
    const changed = { "signature-input": independent.signatureInput, signature: independent.signature };
    expect(await verify(changed)).toBe("valid");
    expect(await verify({ ...changed, etag: '"other"' })).toBe("signature-differs");
  });
});
