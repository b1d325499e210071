import { verifyResponse } from "../response-signature.ts";
import { TestSigner } from "./test-signer.ts";

/** An answer that a test signer has signed, and what of it a test may change. */
export const created = 1_795_176_030;
export const signer = await TestSigner.create();
export const text = '{"region":"DE"}';
export const fields = await signer.sign(text, { created });
export const [inputOfOurs = "", signatureOfOurs = ""] = [fields["signature-input"], fields.signature];

/** The verdict on it with fields, status or body changed. */
export function verify(
  changed: Record<string, string> = {},
  message: { status?: number; text?: string } = {},
) {
  const { status = 200, text: received = text } = message;
  const headers = new Headers({ ...fields, ...changed });
  return verifyResponse({ status, headers, body: new TextEncoder().encode(received) }, signer.publicKeys);
}
