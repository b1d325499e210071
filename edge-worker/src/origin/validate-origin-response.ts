import type { PublicKeySet } from "@trendvault/contract/keys";
import type { CanonicalRequest } from "../rules/canonical-request.ts";
import type { OriginResponse } from "./fetch-from-origin.ts";
import { readAnswer } from "./read-answer.ts";
import type { StoredResponse } from "./stored-response.ts";

/** A valid response may be stored and served. Anything else is a failure of the origin; `reason` is for the log. */
export type ValidationResult =
  | { kind: "response"; response: StoredResponse }
  | { kind: "invalid"; reason: string };

/** `now`: when the origin was asked, Unix seconds. `stored`: the response that is in the cache already. */
export type ValidationContext = {
  request: CanonicalRequest;
  stored: StoredResponse | null;
  now: number;
  keys: PublicKeySet;
};

const longestAgeSeconds = 15 * 60; // of a signature

/** Validates that the origin has signed it, now, as the answer to this request, and that it is no older than the stored one. */
export async function validateOriginResponse(
  received: OriginResponse,
  { request, stored, now, keys }: ValidationContext,
): Promise<ValidationResult> {
  const answer = await readAnswer(received, { request, keys, now });
  if (typeof answer === "string") return invalid(answer);
  const { created, ...signed } = answer;
  if (created < now - longestAgeSeconds) return invalid("it was not signed now");
  const generatedAt = signed.generatedAt ?? (signed.status === 404 ? (stored?.generatedAt ?? 0) : now);
  // By time, not by the generation's number: a database that was set up anew counts from 1 again.
  const isOlder =
    generatedAt < (stored?.generatedAt ?? 0) || (signed.status === 404 && created < createdOf(stored));
  if (isOlder) return invalid("it is older than the stored response");
  const response = { ...signed, target: request.target, generatedAt, fetchedAt: now };
  return { kind: "response", response };
}

/** When the origin signed a stored response; 0 without one. A 404 has no date of its own. */
function createdOf(stored: StoredResponse | null): number {
  return Number(/;created=(\d+)/.exec(stored?.headers["signature-input"] ?? "")?.[1] ?? 0);
}

function invalid(reason: string): ValidationResult {
  return { kind: "invalid", reason };
}
