import { type Problem, problemContentType, problemType } from "@trendvault/contract/problem";
import type { PublicKeySet } from "@trendvault/contract/response-signature";
import type { CanonicalRequest } from "../rules/canonical-request.ts";
import { parseJson } from "../rules/parse-json.ts";
import type { OriginResponse } from "./fetch-from-origin.ts";
import { readAnswer } from "./read-answer.ts";
import type { StoredResponse } from "./stored-response.ts";

/**
 * A valid response may be stored and served. A problem is the client's mistake, and may be served. Anything else is
 * a failure of the origin, and may be neither; `reason` is for the log.
 */
export type ValidationResult =
  | { kind: "response"; response: StoredResponse }
  | { kind: "problem"; problem: Problem }
  | { kind: "invalid"; reason: string };

/** `now`: when the origin was asked, Unix seconds. `stored`: the response that is in the cache already. */
export type ValidationContext = {
  request: CanonicalRequest;
  stored: StoredResponse | null;
  now: number;
  keys: PublicKeySet;
};

const largestBody = 512 * 1024; // bytes; 50 items with the longest titles take a tenth of it
/** How long ago the origin may have signed, and how far its clock may be ahead, in seconds. */
const signatureWindow = { behind: 15 * 60, ahead: 60 };
const clientProblems = new Map([
  [400, problemType("invalid-parameter")],
  [404, problemType("not-found")],
  [410, problemType("generation-gone")],
]);

/** Validates that the origin has signed it, now, as the answer to this request, and that it is no older than the stored one. */
export async function validateOriginResponse(
  received: OriginResponse,
  { request, stored, now, keys }: ValidationContext,
): Promise<ValidationResult> {
  if (clientProblems.has(received.status)) return validateProblem(received);
  if (received.body.length > largestBody) return invalid(`it is larger than ${largestBody} bytes`);
  const answer = await readAnswer(received, { target: request.target, keys });
  if (typeof answer === "string") return invalid(answer);
  const { created, ...signed } = answer;
  if (created < now - signatureWindow.behind || created > now + signatureWindow.ahead) {
    return invalid("it was not signed now");
  }
  const generatedAt = signed.generatedAt ?? now;
  // By time, not by the generation's number: a database that was set up anew counts from 1 again.
  if (generatedAt < (stored?.generatedAt ?? 0)) return invalid("it is older than the stored response");
  const response = { ...signed, target: request.target, generatedAt, fetchedAt: now };
  return { kind: "response", response };
}

// Problems are not signed: nothing of them is stored, and their type has to fit.
function validateProblem({ status, headers, body }: OriginResponse): ValidationResult {
  const problem = parseJson(new TextDecoder().decode(body)) as Problem | null;
  const fits =
    headers.get("content-type") === problemContentType &&
    problem?.type === clientProblems.get(status) &&
    problem?.status === status;
  return problem !== null && fits ? { kind: "problem", problem } : invalid(`status ${status}`);
}

function invalid(reason: string): ValidationResult {
  return { kind: "invalid", reason };
}
