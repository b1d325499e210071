import { createPublicKey } from "node:crypto";
import type { PublicKeySet } from "@trendvault/contract/keys";
import { coveredComponents } from "@trendvault/contract/signature-base";
import { verifySignature, webcrypto } from "http-message-sig";
import { createVerifier, httpbis } from "http-message-signatures";

type SignedResponse = { status: number; headers: Headers };

/** Verifies a response's signature with two other implementations of RFC 9421. @throws Error when one refuses it */
export async function verifyIndependently(response: SignedResponse, keys: PublicKeySet): Promise<void> {
  await verifyWithMessageSig(response, keys);
  await verifyWithMessageSignatures(response, keys);
}

const requiredParameters = ["created", "keyid", "alg"];

// https://www.npmjs.com/package/http-message-sig
async function verifyWithMessageSig({ status, headers }: SignedResponse, keys: PublicKeySet): Promise<void> {
  const fields = [...headers].map(([name, value]) => ({ name, value }));
  const keyid = /;keyid="([^"]+)"/.exec(headers.get("signature-input") ?? "")?.[1];
  const key = keys.keys.find(({ kid }) => kid === keyid) ?? keys.keys[0];
  const publicKey = await crypto.subtle.importKey("jwk", { ...key }, "Ed25519", true, ["verify"]);
  await verifySignature(
    { kind: "response", status, fields },
    {
      policy: { algorithms: ["ed25519"], requiredComponents: coveredComponents, requiredParameters },
      resolveVerifier: () => webcrypto.verifier(publicKey),
    },
  );
}

// https://www.npmjs.com/package/http-message-signatures
async function verifyWithMessageSignatures(
  { status, headers }: SignedResponse,
  keys: PublicKeySet,
): Promise<void> {
  const keyLookup = async ({ keyid }: { keyid?: string }) => {
    const key = keys.keys.find(({ kid }) => kid === keyid);
    if (key === undefined) return null;
    const publicKey = createPublicKey({ key, format: "jwk" });
    return { id: key.kid, algs: ["ed25519"], verify: createVerifier(publicKey, "ed25519") };
  };
  const tolerance = 60; // seconds that the signer's clock may be ahead
  const config = {
    keyLookup,
    requiredFields: [...coveredComponents],
    requiredParams: requiredParameters,
    tolerance,
  };
  const isValid = await httpbis.verifyMessage(config, { status, headers: Object.fromEntries(headers) });
  if (isValid !== true) throw new Error("http-message-signatures does not verify the signature");
}
