import { expect, test } from "bun:test";
import type { KVNamespace } from "@cloudflare/workers-types";
import { toBase64url } from "@trendvault/contract/base64url";
import { signatureBase, signatureParameters, unencodedDigest } from "@trendvault/contract/response-signature";
import type { Ask } from "./ask.ts";
import type { Copy } from "./copy.ts";
import { LastResort } from "./last-resort.ts";

const ask: Ask = {
  target: "/api/trending?region=DE",
  query: { region: "DE", window: "day", limit: 24 },
  placed: true,
};
const pair = (await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"])) as CryptoKeyPair;
const x = toBase64url(new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey)));
const good = await signedCopy('{"region":"DE"}');

async function signedCopy(body: string): Promise<Copy> {
  const fields = {
    "content-type": "application/json",
    "unencoded-digest": await unencodedDigest(new TextEncoder().encode(body)),
    etag: '"abc"',
  };
  const parameters = signatureParameters({ kid: "s1", created: 1 });
  const base = new TextEncoder().encode(signatureBase({ status: 200, fields }, parameters));
  const signature = new Uint8Array(await crypto.subtle.sign("Ed25519", pair.privateKey, base));
  return {
    target: ask.target,
    body,
    fields: { ...fields, "signature-input": `tv=${parameters}`, signature: `tv=:${signature.toBase64()}:` },
    generatedAt: 1,
    checkedAt: 1,
    lifetimes: { fresh: 1, stale: 1, staleIfError: 1, browserFresh: 1, browserStale: 1 },
  };
}

function reading(stored: unknown): Promise<Copy | null> {
  const store = { get: async () => stored } as unknown as KVNamespace;
  const keys = { keys: [{ kty: "OKP", crv: "Ed25519", kid: "s1", x } as const] };
  return new LastResort(store, { everySeconds: 600, keys }).read(ask);
}

test("what the origin has signed is read back", async () => {
  expect(await reading(good)).toEqual(good);
  expect(await reading(null)).toBeNull();
});

test.each([
  ["another body", { ...good, body: '{"region":"FR"}' }, "digest-differs"],
  ["no signature", { ...good, fields: { ...good.fields, signature: "" } }, "unsigned"],
  ["another market's page", { ...good, target: "/api/trending?region=FR" }, "something else"],
  ["another form", {}, "something else"],
])("%s in the store is not served", async (_name, stored, reason) => {
  await expect(reading(stored)).rejects.toThrow(reason);
});
