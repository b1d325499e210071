import { type Problem, problemContentType, problemType } from "@trendvault/contract/problem";
import { type PublicKeySet, verifyResponse } from "@trendvault/contract/response-signature";
import type { Ask } from "./ask.ts";
import type { Copy } from "./copy.ts";
import { readLifetimes } from "./lifetimes.ts";
import { contradiction, type ListClaims } from "./list-claims.ts";
import type { OriginAnswer } from "./origin.ts";
import { parseJson } from "./parse-json.ts";
import { isDocumentAt } from "./paths.ts";

/**
 * What an answer of the origin is worth. A copy may be stored and served; a problem is the visitor's doing and may
 * be served; anything else is a failure of the origin and may be neither. `reason` is for the log.
 */
export type Verdict =
  | { kind: "copy"; copy: Copy }
  | { kind: "problem"; problem: Problem }
  | { kind: "failure"; reason: string };

/** `now`: when the origin was asked, Unix seconds. `held`: the copy that there is already. */
export type Circumstances = { ask: Ask; held: Copy | null; now: number; keys: PublicKeySet };

const largestBody = 512 * 1024; // bytes; 50 items with the longest titles take a tenth of it
const keptFields = ["content-type", "etag", "link", "unencoded-digest", "signature-input", "signature"];
const visitorsProblems = new Map([
  [400, problemType("invalid-parameter")],
  [404, problemType("not-found")],
  [410, problemType("generation-gone")],
]);

/** Judges an answer: its form, its signature, and whether it is what was asked for and no older than what is held. */
export async function judge(received: OriginAnswer, circumstances: Circumstances): Promise<Verdict> {
  if (visitorsProblems.has(received.status)) return judgeProblem(received);
  const answer = { ...received, headers: withStrongTag(received.headers) };
  const defect = formDefect(answer);
  if (defect !== null) return failure(defect);
  const signature = await verifyResponse(answer, circumstances.keys);
  if (signature !== "valid") return failure(`its signature is not good: ${signature}`);
  const copy = makeCopy(answer, circumstances);
  return typeof copy === "string" ? failure(copy) : { kind: "copy", copy };
}

// A proxy that has compressed the answer on its way weakens the tag; the signature is over the origin's, which is strong.
function withStrongTag(headers: Headers): Headers {
  const strong = new Headers(headers);
  strong.set("etag", (headers.get("etag") ?? "").replace(/^W\//, ""));
  return strong;
}

function formDefect({ status, headers, body }: OriginAnswer): string | null {
  if (status !== 200) return `status ${status}`;
  if (!/^application\/([a-z-]+\+)?json$/.test(headers.get("content-type") ?? "")) return "it is not JSON";
  return body.length > largestBody ? `it is larger than ${largestBody} bytes` : null;
}

/** The copy, or why there is none. */
function makeCopy({ headers, body }: OriginAnswer, { ask, held, now }: Circumstances): Copy | string {
  const lifetimes = readLifetimes(headers);
  if (lifetimes === null) return "it may not be kept";
  const text = new TextDecoder().decode(body);
  const claims = parseJson(text) as (ListClaims & { generated_at?: string }) | null;
  if (claims === null) return "it is not JSON";
  const wrong = ask.query === null ? otherDocument(ask, claims) : contradiction(claims, ask.query, now);
  if (wrong !== null) return wrong;
  const generatedAt = claims.generated_at === undefined ? now : Date.parse(claims.generated_at) / 1000;
  // By time, not by the generation's number: a database that was set up anew counts from 1 again.
  if (!(generatedAt >= (held?.generatedAt ?? 0))) return "it is older than what is held";
  return {
    target: ask.target,
    body: text,
    fields: keepFields(headers),
    generatedAt,
    checkedAt: now,
    lifetimes,
  };
}

function otherDocument({ target }: Ask, claims: object): string | null {
  return isDocumentAt(target, { ...claims }) ? null : "it is another document";
}

function keepFields(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => keptFields.includes(name)));
}

// Problems are not signed: nothing of them is stored, and their type has to fit.
function judgeProblem({ status, headers, body }: OriginAnswer): Verdict {
  const problem = parseJson(new TextDecoder().decode(body)) as Problem | null;
  const fits =
    headers.get("content-type") === problemContentType &&
    problem?.type === visitorsProblems.get(status) &&
    problem?.status === status;
  return problem !== null && fits ? { kind: "problem", problem } : failure(`status ${status}`);
}

function failure(reason: string): Verdict {
  return { kind: "failure", reason };
}
