import type { SignatureFields, SignedMessage } from "@trendvault/contract/signature-base";
import type { ResponseSigner } from "../signing/response-signer.ts";
import type { NextTurn } from "./next-turn.ts";

/** A message to be signed; `created` is Unix time in seconds. */
type SigningRequest = { message: SignedMessage; created: number };

/** The end of a step: whoever waits for what is in the cache may be answered before the next one. */
export const endOfStep = Symbol("end of step");

/**
 * What is built in steps and around signatures: it yields where a step ends, and what has to be signed, whether that is
 * waited for or not. What `yield` gives after the end of a step means nothing.
 */
export type SignedBuild<T> = Generator<SigningRequest | typeof endOfStep, T, SignatureFields>;

type Finishing = { sign: ResponseSigner["sign"]; nextTurn: NextTurn };

/** A step a turn of the event loop; signs in another thread. */
export async function finish<T>(build: SignedBuild<T>, { sign, nextTurn }: Finishing): Promise<T> {
  let step = build.next();
  while (!step.done) {
    if (step.value === endOfStep) {
      await nextTurn();
      step = build.next(nothing);
    } else step = build.next(await sign(step.value.message, step.value.created));
  }
  return step.value;
}

/** Everything here and now. */
export function finishNow<T>(build: SignedBuild<T>, signNow: NonNullable<ResponseSigner["signNow"]>): T {
  let step = build.next();
  while (!step.done) {
    step = build.next(step.value === endOfStep ? nothing : signNow(step.value.message, step.value.created));
  }
  return step.value;
}

const nothing = {} as SignatureFields;
