import { type Problem, problemContentType, problemType } from "@trendvault/contract/problem";
import { type PublicKeySet, verifyResponse } from "@trendvault/contract/response-signature";
import type { CanonicalRequest } from "../rules/canonical-request.ts";
import { readLifetimes } from "../rules/lifetimes.ts";
import { parseJson } from "../rules/parse-json.ts";
import { isDocumentAt } from "../rules/paths.ts";
import type { OriginResponse } from "./fetch-from-origin.ts";
import { type PageIdentity, pageMismatch } from "./page-mismatch.ts";
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
const storedHeaders = ["content-type", "etag", "link", "unencoded-digest", "signature-input", "signature"];
const clientProblems = new Map([
  [400, problemType("invalid-parameter")],
  [404, problemType("not-found")],
  [410, problemType("generation-gone")],
]);

/** Validates its form, its signature, and that it is what was requested and no older than the stored one. */
export async function validateOriginResponse(
  received: OriginResponse,
  context: ValidationContext,
): Promise<ValidationResult> {
  if (clientProblems.has(received.status)) return validateProblem(received);
  const response = { ...received, headers: withStrongEntityTag(received.headers) };
  const formError = findFormError(response);
  if (formError !== null) return invalid(formError);
  const verdict = await verifyResponse(response, context.keys);
  if (verdict !== "valid") return invalid(`its signature is not valid: ${verdict}`);
  const stored = toStoredResponse(response, context);
  return typeof stored === "string" ? invalid(stored) : { kind: "response", response: stored };
}

// A proxy that compresses the response weakens its entity tag; the signature is over the origin's, which is strong.
function withStrongEntityTag(headers: Headers): Headers {
  const strong = new Headers(headers);
  strong.set("etag", (headers.get("etag") ?? "").replace(/^W\//, ""));
  return strong;
}

function findFormError({ status, headers, body }: OriginResponse): string | null {
  if (status !== 200) return `status ${status}`;
  if (!/^application\/([a-z-]+\+)?json$/.test(headers.get("content-type") ?? "")) return "it is not JSON";
  return body.length > largestBody ? `it is larger than ${largestBody} bytes` : null;
}

/** What may be stored, or the reason why nothing may. */
function toStoredResponse(
  { headers, body: bytes }: OriginResponse,
  { request, stored, now }: ValidationContext,
): StoredResponse | string {
  const lifetimes = readLifetimes(headers);
  if (lifetimes === null) return "it may not be stored";
  const body = new TextDecoder().decode(bytes);
  const content = parseJson(body) as (PageIdentity & { generated_at?: string }) | null;
  if (content === null) return "it is not JSON";
  const mismatch = mismatchWith(request, content, now);
  if (mismatch !== null) return mismatch;
  const generatedAt = content.generated_at === undefined ? now : Date.parse(content.generated_at) / 1000;
  // By time, not by the generation's number: a database that was set up anew counts from 1 again.
  if (!(generatedAt >= (stored?.generatedAt ?? 0))) return "it is older than the stored response";
  return {
    target: request.target,
    body,
    headers: pickHeaders(headers),
    generatedAt,
    fetchedAt: now,
    lifetimes,
  };
}

function mismatchWith(
  { query, target }: CanonicalRequest,
  content: PageIdentity,
  now: number,
): string | null {
  if (query !== null) return pageMismatch(content, query, now);
  return isDocumentAt(target, { ...content }) ? null : "it is another document";
}

function pickHeaders(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => storedHeaders.includes(name)));
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
