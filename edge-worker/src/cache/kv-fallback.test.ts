import { expect, test } from "bun:test";
import type { KVNamespace } from "@cloudflare/workers-types";
import { toBase64url } from "@trendvault/contract/base64url";
import { signatureBase, signatureParameters, unencodedDigest } from "@trendvault/contract/response-signature";
import type { StoredResponse } from "../origin/stored-response.ts";
import type { CanonicalRequest } from "../rules/canonical-request.ts";
import { KvFallback } from "./kv-fallback.ts";

const request: CanonicalRequest = {
  target: "/api/trending?region=DE",
  query: { region: "DE", window: "day", limit: 24 },
  regionFromCountry: true,
};
const pair = (await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"])) as CryptoKeyPair;
const x = toBase64url(new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey)));
const good = await signedResponse('{"region":"DE"}');

async function signedResponse(body: string): Promise<StoredResponse> {
  const fields = {
    "content-type": "application/json",
    "unencoded-digest": await unencodedDigest(new TextEncoder().encode(body)),
    etag: '"abc"',
  };
  const parameters = signatureParameters({ kid: "s1", created: 1 });
  const base = new TextEncoder().encode(signatureBase({ status: 200, fields }, parameters));
  const signature = new Uint8Array(await crypto.subtle.sign("Ed25519", pair.privateKey, base));
  return {
    target: request.target,
    body,
    headers: { ...fields, "signature-input": `tv=${parameters}`, signature: `tv=:${signature.toBase64()}:` },
    generatedAt: 1,
    fetchedAt: 1,
    lifetimes: {
      maxAge: 1,
      staleWhileRevalidate: 1,
      staleIfError: 1,
      browserMaxAge: 1,
      browserStaleWhileRevalidate: 1,
    },
  };
}

function read(stored: unknown): Promise<StoredResponse | null> {
  const store = { get: async () => stored } as unknown as KVNamespace;
  const keys = { keys: [{ kty: "OKP", crv: "Ed25519", kid: "s1", x } as const] };
  return new KvFallback(store, { intervalSeconds: 600, keys }).get(request);
}

test("what the origin has signed is read back", async () => {
  expect(await read(good)).toEqual(good);
  expect(await read(null)).toBeNull();
});

test.each([
  ["another body", { ...good, body: '{"region":"FR"}' }, "digest-differs"],
  ["no signature", { ...good, headers: { ...good.headers, signature: "" } }, "unsigned"],
  ["another region's page", { ...good, target: "/api/trending?region=FR" }, "another request"],
  ["another form", {}, "another request"],
])("%s in KV is not served", async (_name, stored, reason) => {
  await expect(read(stored)).rejects.toThrow(reason);
});
