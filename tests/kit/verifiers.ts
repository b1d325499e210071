import type { PublicKeySet } from "@trendvault/contract/keys";
import { coveredComponents } from "@trendvault/contract/signature-base";
import { verifySignature, webcrypto } from "http-message-sig";

type SignedResponse = { status: number; headers: Headers };

/** Verifies a response's signature with another implementation of RFC 9421. @throws Error when it refuses it */
export async function verifyIndependently(
  { status, headers }: SignedResponse,
  { keys }: PublicKeySet,
): Promise<void> {
  const fields = [...headers].map(([name, value]) => ({ name, value }));
  const keyid = /;keyid="([^"]+)"/.exec(headers.get("signature-input") ?? "")?.[1];
  const key = keys.find(({ kid }) => kid === keyid) ?? keys[0];
  const publicKey = await crypto.subtle.importKey("jwk", { ...key }, "Ed25519", true, ["verify"]);
  await verifySignature(
    { kind: "response", status, fields },
    {
      policy: {
        algorithms: ["ed25519"],
        requiredComponents: coveredComponents,
        requiredParameters: ["created", "keyid", "alg"],
      },
      resolveVerifier: () => webcrypto.verifier(publicKey),
    },
  );
}
