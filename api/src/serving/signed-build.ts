import type { AnswerKeyPurpose } from "@trendvault/contract/keys";
import type { SigningKeys } from "../signing/signing-keys.ts";
import { type CodingRequest, encode, encodeInParts } from "./content-coding.ts";
import type { NextTurn } from "./next-turn.ts";

/** Bytes that a key has to sign. */
type SigningRequest = { purpose: AnswerKeyPurpose; bytes: Uint8Array<ArrayBuffer> };
type Signature = Uint8Array<ArrayBuffer>;

/** The end of a step: whoever waits for what is in the cache may be answered before the next one. */
export const endOfStep = Symbol("end of step");

/**
 * What is built in steps and around signatures: it yields where a step ends, and what has to be signed, or is so long
 * that it is coded in parts, whether that is waited for or not. What `yield` gives after the end of a step means nothing.
 */
export type SignedBuild<T> = Generator<SigningRequest | CodingRequest | typeof endOfStep, T, Signature>;

type Finishing = { keys: SigningKeys; nextTurn: NextTurn };

/** A step a turn of the event loop; signs, and codes what is long, in another thread. */
export async function finish<T>(build: SignedBuild<T>, { keys, nextTurn }: Finishing): Promise<T> {
  let step = build.next();
  while (!step.done) {
    if (step.value === endOfStep) {
      await nextTurn();
      step = build.next(nothing);
    } else if ("encoding" in step.value) step = build.next(await encodeInParts(step.value));
    else step = build.next(await keys[step.value.purpose].sign(step.value.bytes));
  }
  return step.value;
}

/** Everything here and now; null before the keys were prepared for that. */
export function finishNow<T>(build: SignedBuild<T>, keys: SigningKeys): T | null {
  const [responses, tokens] = [keys.responses.signNow, keys.tokens.signNow];
  if (responses === null || tokens === null) return null;
  const signNow = { responses, tokens };
  let step = build.next();
  while (!step.done) {
    if (step.value === endOfStep) step = build.next(nothing);
    else if ("encoding" in step.value) step = build.next(encode(step.value));
    else step = build.next(signNow[step.value.purpose](step.value.bytes));
  }
  return step.value;
}

const nothing: Signature = new Uint8Array();
