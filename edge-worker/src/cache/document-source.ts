import type { ListRefusal } from "@trendvault/contract/queries";
import type { StoredResponse } from "../origin/stored-response.ts";
import type { CanonicalRequest } from "../rules/canonical-request.ts";

/** Where documents come from: the origin, or a bundle. */
export interface DocumentSource {
  /** Until when it is not to be asked, because it fails, in Unix seconds; null when it may be. */
  readonly waitsUntil: number | null;
  /** Asks it, when the client may cause that. Logs why it failed, if it did; never throws. */
  read(request: CanonicalRequest, held: Held): Promise<SourceAnswer>;
}

/** What is known when a source is asked. */
export type Held = {
  /** The response that is in the cache, unless it may not be served any more. */
  stored: StoredResponse | null;
  /** Keeps the Worker running until the work is done, after the response was sent. */
  waitUntil: (work: Promise<unknown>) => void;
  /** Whether this client may cause reads; counts it, once for all sources. */
  mayRead: () => Promise<boolean>;
};

export type SourceAnswer =
  | { kind: "response"; response: StoredResponse }
  /** The stored response is the newest that it has, and so it is until a time (Unix seconds). */
  | { kind: "unchanged"; until: number }
  /** There is no such document, as far as is known until a time (Unix seconds). */
  | ({ kind: "refused"; until: number } & SourceRefusal)
  /** It gave none. `status`: of its answer, if there was one. It asks not to be asked for `retryAfter` seconds. */
  | { kind: "failed"; status: number | null; retryAfter: number }
  /** It was not asked. */
  | { kind: "waiting"; until: number }
  /** This client has asked too much. */
  | { kind: "rate-limited" };

/** Why there is no document. `nearest`: the address of the one that people are led to instead. */
export type SourceRefusal = { refusal: ListRefusal; nearest?: string };
