import { beginTrace, longestBody, traceparentHeader } from "@trendvault/contract/http";
import type { PublicKeySet } from "@trendvault/contract/keys";
import { problemType } from "@trendvault/contract/problem";
import { type EdgeSigner, edgeSignatureHeader } from "@trendvault/contract/request-signatures";
import {
  type Attempt,
  type DocumentSource,
  type Held,
  type SourceAnswer,
  SourceBreaker,
} from "./document-source.ts";
import type { Logger } from "./log.ts";
import { type CanonicalRequest, redactedTarget } from "./policy.ts";
import { type ReceivedAnswer, readAnswer, type StoredResponse } from "./signed-answer.ts";

type Options = Omit<OriginOptions, "traceparent"> & {
  /** What its responses have to be signed with. */
  keys: PublicKeySet;
  /** Unix seconds. */
  clock: () => number;
  log: Logger;
};

const refusals = [400, 404, 410]; // the statuses that one request can be to blame for
const cacheSeconds = 2; // what a probe's request may spend with caches

/** The origin: one request for each document. */
export class OriginSource implements DocumentSource {
  readonly #options: Options;
  readonly #breaker: SourceBreaker;

  constructor(options: Options) {
    this.#options = options;
    const { clock, timeoutSeconds } = options;
    this.#breaker = new SourceBreaker({ lostSeconds: timeoutSeconds + cacheSeconds, clock });
  }

  get waitsUntil(): number | null {
    return this.#breaker.waitsUntil;
  }

  async read(canonical: CanonicalRequest, { stored, mayRead }: Held): Promise<SourceAnswer> {
    if (this.waitsUntil !== null) return { kind: "waiting", until: this.waitsUntil };
    if (!(await mayRead())) return { kind: "rate-limited" };
    const attempt = this.#breaker.begin();
    if (attempt === null) return { kind: "waiting", until: this.waitsUntil ?? 0 };
    const { keys, clock } = this.#options;
    const now = clock();
    // A trace of its own: what one visitor's request names must not reach the origin, and many share this one.
    const { traceId, traceparent } = beginTrace();
    const received = await fetchFromOrigin(canonical.target, { ...this.#options, traceparent });
    if (typeof received === "string") return this.#fail(attempt, canonical, { reason: received, traceId });
    const validated = await validateOriginResponse(received, { canonical, stored, now, keys });
    if (validated.kind === "invalid")
      return this.#fail(attempt, canonical, { received, traceId, ...validated });
    this.#breaker.succeed(attempt);
    return validated;
  }

  #fail(
    attempt: Attempt,
    canonical: CanonicalRequest,
    { received, reason, traceId }: { received?: ReceivedAnswer; reason: string; traceId: string },
  ): SourceAnswer {
    const { log, clock } = this.#options;
    const message = "The origin gave no response that can be served.";
    const facts = { target: redactedTarget(canonical), reason, trace_id: traceId };
    log({ level: "error", event: "origin_failed", message, ...facts });
    const status = received?.status ?? null;
    const retryAfter = readRetryAfter(received?.headers.get("retry-after") ?? null, clock());
    // What is too large is so for this target only: a catalogue decides how large a list is. A busy origin is well, and
    // refuses what is asked for the first time.
    const isRefusal =
      reason === "too-large" || (status !== null && refusals.includes(status)) || isBusy(received);
    this.#breaker.fail(attempt, { retryAfter, isRefusal });
    return { kind: "failed", status, retryAfter };
  }
}

function isBusy(received: ReceivedAnswer | undefined): boolean {
  return (
    received?.status === 503 && new TextDecoder().decode(received.body).includes(`"${problemType("busy")}"`)
  );
}

type OriginError = "timed-out" | "unreachable" | "too-large";

/** `timeoutSeconds` is for everything together: both tries and the body. `traceparent`: see contract/http.ts. */
type OriginOptions = { url: URL; signer: EdgeSigner; timeoutSeconds: number; traceparent: string };

/** With these statuses Cloudflare tells a Worker that it had no connection to the origin. */
const connectionErrorStatuses = new Set([521, 522, 523, 525, 526, 530]);

/** Requests a canonical path and query from the origin, signed. A connection that fails is tried once more. */
export async function fetchFromOrigin(
  target: string,
  options: OriginOptions,
): Promise<ReceivedAnswer | OriginError> {
  const signal = AbortSignal.timeout(options.timeoutSeconds * 1000);
  const first = await tryOnce(target, options, signal);
  return first === "unreachable" ? tryOnce(target, options, signal) : first;
}

async function tryOnce(
  target: string,
  { url, signer, traceparent }: OriginOptions,
  signal: AbortSignal,
): Promise<ReceivedAnswer | OriginError> {
  const signature = await signer.sign(Date.now() / 1000);
  const request = new Request(new URL(target, url).href, {
    headers: {
      accept: "application/json",
      "accept-encoding": "identity",
      [edgeSignatureHeader]: signature,
      [traceparentHeader]: traceparent,
    },
    redirect: "manual",
    cache: "no-store", // one cache decides about freshness: ours
    signal,
  });
  try {
    const response = await fetch(request);
    if (connectionErrorStatuses.has(response.status)) return "unreachable";
    const body = await readBody(response);
    return body === null ? "too-large" : { status: response.status, headers: response.headers, body };
  } catch {
    return signal.aborted ? "timed-out" : "unreachable"; // fetch and reading its body fail for no other reason
  }
}

/** The body, or null when there is more of it than any answer has; the rest is not read. */
async function readBody({ body }: Response): Promise<Uint8Array<ArrayBuffer> | null> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array<ArrayBuffer>>) {
    length += chunk.length;
    if (length > longestBody) return null; // leaving the loop cancels the body
    chunks.push(chunk);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

/** A valid response may be stored and served. Anything else is a failure of the origin; `reason` is for the log. */
type ValidationResult = { kind: "response"; response: StoredResponse } | { kind: "invalid"; reason: string };

/** `now`: when the origin was asked, Unix seconds. `stored`: the response that is in the cache already. */
type ValidationContext = {
  canonical: CanonicalRequest;
  stored: StoredResponse | null;
  now: number;
  keys: PublicKeySet;
};

const longestAgeSeconds = 15 * 60; // of a signature

/** Validates that the origin has signed it, now, as the answer to this request, and that it is no older than the stored one. */
export async function validateOriginResponse(
  received: ReceivedAnswer,
  { canonical, stored, now, keys }: ValidationContext,
): Promise<ValidationResult> {
  const answer = await readAnswer(received, { canonical, keys, now });
  if (typeof answer === "string") return invalid(answer);
  const { created, ...signed } = answer;
  if (created < now - longestAgeSeconds) return invalid("it was not signed now");
  const generatedAt = signed.generatedAt ?? (signed.status === 404 ? (stored?.generatedAt ?? 0) : now);
  // By time, not by the generation's number: a database that was set up anew counts from 1 again.
  const isOlder =
    generatedAt < (stored?.generatedAt ?? 0) || (signed.status === 404 && created < createdOf(stored));
  if (isOlder) return invalid("it is older than the stored response");
  const response = { ...signed, target: canonical.target, generatedAt, fetchedAt: now };
  return { kind: "response", response };
}

/** When the origin signed a stored response; 0 without one. A 404 has no date of its own. */
function createdOf(stored: StoredResponse | null): number {
  return Number(/;created=(\d+)/.exec(stored?.headers["signature-input"] ?? "")?.[1] ?? 0);
}

function invalid(reason: string): ValidationResult {
  return { kind: "invalid", reason };
}

/** The seconds that Retry-After asks for, a number or a date (RFC 9110, section 10.2.3); 0 when it does not. */
function readRetryAfter(field: string | null, now: number): number {
  if (field === null) return 0;
  const seconds = /^\d+$/.test(field) ? Number(field) : Date.parse(field) / 1000 - now;
  return Number.isNaN(seconds) ? 0 : Math.max(0, seconds);
}
