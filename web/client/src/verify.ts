export type { PublicKey, PublicKeySet } from "@trendvault/contract/keys";
export { type SignatureVerdict, verifyResponse } from "@trendvault/contract/response-signature";
export type { TokenList } from "@trendvault/contract/token";
export { type TokenClaims, type TokenVerdict, verifyToken } from "@trendvault/contract/token";
export type { Answer, Check } from "./requests/checked-send.ts";
export { verifyPageToken } from "./verify/page-token.ts";
export { type Refusal, VerificationError } from "./verify/verification-error.ts";
export { createVerifier, type VerifierOptions } from "./verify/verifier.ts";
