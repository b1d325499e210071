import type { SignatureVerdict } from "@trendvault/contract/response-signature";
import type { TokenVerdict } from "@trendvault/contract/token";

/**
 * Why an answer is not to be used: what its signature or its token said, or `other-question`: it is signed as the
 * answer to another address, or `outdated`: it was signed longer ago than any cache may keep it.
 */
export type Refusal =
  | Exclude<SignatureVerdict, "valid">
  | Exclude<TokenVerdict, "valid">
  | "other-question"
  | "other-list"
  | "outdated";

/** An answer that is not certainly the origin's. */
export class VerificationError extends Error {
  override readonly name = "VerificationError";

  constructor(readonly refusal: Refusal) {
    super(`Cannot verify the answer: ${refusal}`);
  }
}
