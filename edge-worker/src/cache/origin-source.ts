import { beginTrace } from "@trendvault/contract/http";
import type { PublicKeySet } from "@trendvault/contract/keys";
import type { Logger } from "../log/logger.ts";
import { fetchFromOrigin, type OriginOptions, type OriginResponse } from "../origin/fetch-from-origin.ts";
import { validateOriginResponse } from "../origin/validate-origin-response.ts";
import { type BackoffOptions, readRetryAfter } from "../rules/backoff.ts";
import { type CanonicalRequest, redactedTarget } from "../rules/canonical-request.ts";
import type { DocumentSource, Held, SourceAnswer } from "./document-source.ts";
import { SourceBreaker } from "./source-breaker.ts";

type Options = Omit<OriginOptions, "traceparent"> & {
  /** What its responses have to be signed with. */
  keys: PublicKeySet;
  backoff: BackoffOptions;
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
    const { backoff, clock, timeoutSeconds } = options;
    this.#breaker = new SourceBreaker({ ...backoff, probeSeconds: timeoutSeconds + cacheSeconds, clock });
  }

  get waitsUntil(): number | null {
    return this.#breaker.waitsUntil;
  }

  async read(request: CanonicalRequest, { stored, mayRead }: Held): Promise<SourceAnswer> {
    if (this.waitsUntil !== null) return { kind: "waiting", until: this.waitsUntil };
    if (!(await mayRead())) return { kind: "rate-limited" };
    if (!this.#breaker.begin()) return { kind: "waiting", until: this.waitsUntil ?? 0 };
    const { keys, clock } = this.#options;
    const now = clock();
    // A trace of its own: what one visitor's request names must not reach the origin, and many share this one.
    const { traceId, traceparent } = beginTrace();
    const received = await fetchFromOrigin(request.target, { ...this.#options, traceparent });
    if (typeof received === "string") return this.#fail(request, { reason: received, traceId });
    const validated = await validateOriginResponse(received, { request, stored, now, keys });
    if (validated.kind === "invalid") return this.#fail(request, { received, traceId, ...validated });
    this.#breaker.succeed();
    return validated;
  }

  #fail(
    request: CanonicalRequest,
    { received, reason, traceId }: { received?: OriginResponse; reason: string; traceId: string },
  ): SourceAnswer {
    const { log, clock } = this.#options;
    const message = "The origin gave no response that can be served.";
    const facts = { target: redactedTarget(request), reason, trace_id: traceId };
    log({ level: "error", event: "origin_failed", message, ...facts });
    const status = received?.status ?? null;
    const retryAfter = readRetryAfter(received?.headers.get("retry-after") ?? null, clock());
    // What is too large is so for this target only: a catalogue decides how large a list is.
    const isRefusal = reason === "too-large" || (status !== null && refusals.includes(status));
    this.#breaker.fail({ retryAfter, isRefusal });
    return { kind: "failed", status, retryAfter };
  }
}
