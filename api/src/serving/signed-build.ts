import type { SignatureFields, SignedMessage } from "@trendvault/contract/signature-base";
import type { ResponseSigner } from "../signing/response-signer.ts";

/** A message to be signed; `created` is Unix time in seconds. */
type SigningRequest = { message: SignedMessage; created: number };

/** What is built around signatures: it yields what has to be signed, whether that is waited for or not. */
export type SignedBuild<T> = Generator<SigningRequest, T, SignatureFields>;

/** Signs in another thread. */
export async function finish<T>(build: SignedBuild<T>, sign: ResponseSigner["sign"]): Promise<T> {
  let step = build.next();
  while (!step.done) step = build.next(await sign(step.value.message, step.value.created));
  return step.value;
}

/** Signs here and now. */
export function finishNow<T>(build: SignedBuild<T>, signNow: NonNullable<ResponseSigner["signNow"]>): T {
  let step = build.next();
  while (!step.done) step = build.next(signNow(step.value.message, step.value.created));
  return step.value;
}
