import { toBase64url } from "./base64url.ts";

/**
 * The strong entity tag of a body whose SHA-256 is `digest`. `form`: a coding, whose other bytes need another tag (RFC
 * 9110, section 8.8.3.3); without it, the body is sent as it is.
 */
export function entityTag(digest: Uint8Array, form?: string): string {
  const tag = toBase64url(digest.subarray(0, 16));
  return form === undefined ? `"${tag}"` : `"${tag}-${form}"`;
}
