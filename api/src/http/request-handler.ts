import {
  crossOriginFields,
  isReadMethod,
  longestTarget,
  matchesEntityTag,
  preflightFields,
  readTraceId,
  refusalDetails,
} from "@trendvault/contract/http";
import type { KeyRing } from "@trendvault/contract/keys";
import { describeProblem, type ProblemKind, problemContentType } from "@trendvault/contract/problem";
import { acceptedSignatures, edgeMinute } from "@trendvault/contract/request-signatures";
import { bodyOnlyFields } from "@trendvault/contract/signature-base";
import { DatabaseUnreadable } from "../database/database-files.ts";
import type { Logger } from "../log.ts";
import type { failurePage } from "../resources/pages.ts";
import { notStoredFields, Refusal, type Resource, type RouteName } from "../resources/resource.ts";
import { Answer, detached } from "../serving/answer.ts";
import type { CacheEntry } from "../serving/builder.ts";
import type { Counters } from "../serving/counters.ts";
import { memoizedChooseEncoding, type Representation, SignedRefusal } from "../serving/representation.ts";
import type { ResponseCache } from "../serving/response-cache.ts";
import type { RequestHead } from "./request-head.ts";
import type { FindRoute } from "./routes.ts";
import { splitTarget } from "./routes.ts";

type RequestHandlerParts = {
  cache: ResponseCache;
  counters: Counters;
  findRoute: FindRoute;
  failurePage: ReturnType<typeof failurePage>;
  /** Null: requests need no signature of the edge. */
  edgeKeys: KeyRing | null;
  /** Unix time in milliseconds. */
  clock: () => number;
  log: Logger;
};

type Built = Awaited<NonNullable<ReturnType<ResponseCache["build"]>>>;

/** A request whose answer is built since `started`, in milliseconds. */
type Waiting = { resource: Resource; request: RequestHead; started: number };

/**
 * From a request to its answer; no port is needed to call it. A request whose answer is in the cache needs what is in
 * `answer` and `choose`: behind an edge a comparison of its signature, one look-up by the target as it was received, two
 * header fields. What is not read there is not paid for there.
 */
export class RequestHandler {
  readonly #parts: RequestHandlerParts;
  readonly #cache: ResponseCache;
  /** Null: requests need no signature. */
  readonly #isFromEdge: ((request: RequestHead) => boolean) | null;
  readonly #chooseEncoding = memoizedChooseEncoding();
  #isDraining = false;

  constructor(parts: RequestHandlerParts) {
    this.#parts = parts;
    this.#cache = parts.cache;
    this.#isFromEdge = parts.edgeKeys === null ? null : edgeVerifier(parts.edgeKeys, parts.clock);
  }

  answer(request: RequestHead): Answer | Promise<Answer> {
    if (request.method !== "GET") return this.#answerPerson(request);
    if (this.#isFromEdge !== null && !this.#isFromEdge(request)) return this.#answerPerson(request);
    const entry = this.#cache.lookUp(request.target);
    if (entry === undefined) return this.#answerPerson(request);
    const encoding = this.#chooseEncoding(request.acceptEncoding);
    const representation = encoding === null ? undefined : entry.current.representations[encoding];
    if (representation === undefined) return this.#answerPerson(request);
    return choose(representation, request, entry);
  }

  /** The same, where a person who goes wrong sees a page: not behind an edge, which asks for JSON. */
  #answerPerson(request: RequestHead): Answer | Promise<Answer> {
    const answer = this.#answerSlowly(request);
    if (this.#isFromEdge !== null) return answer;
    return answer instanceof Promise
      ? answer.then((late) => this.#forPerson(request, late))
      : this.#forPerson(request, answer);
  }

  #forPerson(request: RequestHead, answer: Answer): Answer {
    if (answer.headers.get("content-type") !== problemContentType) return answer;
    const { path, search } = splitTarget(request.target);
    if (path.startsWith("/api/")) return answer;
    const varied = answer.with({}); // others may wait for the same
    varied.headers.append("vary", "Accept");
    const headers = new Headers({
      accept: request.accept ?? "",
      "accept-language": request.acceptLanguage ?? "",
    });
    const lang = new URLSearchParams(search).get("lang");
    const body = this.#parts.failurePage(answer.status, { path, headers, lang });
    if (body === null) return varied;
    const fields = { "content-type": body.contentType, ...notStoredFields, ...body.fields };
    const page = new Answer(answer.status, fields, body.bytes);
    for (const name of ["vary", "allow", "retry-after"]) {
      const value = varied.headers.get(name);
      if (value !== null) page.headers.set(name, value);
    }
    page.headers.append("vary", "Accept-Language");
    return page;
  }

  /** The answer to a request that failed before `answer`, or in it: of a request that may name a visitor nothing is logged. */
  answerFailure(error: unknown): Answer {
    return reportFailure(error, { traceparent: null, route: "none", log: this.#parts.log });
  }

  /** The answer to what is no request, in a sentence for who wrote the client. */
  answerBadHead({ status, sentence }: { status: number; sentence: string }): Answer {
    const fields = { "content-type": "text/plain; charset=utf-8", ...notStoredFields };
    return this.#finish("none", new Answer(status, fields, `${sentence}\n`));
  }

  /** From now on /healthz is 503. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Answers what has to be verified, parsed, built or refused. */
  #answerSlowly(request: RequestHead): Answer | Promise<Answer> {
    const target = detached(request.target); // some of it is kept
    const { path, search } = splitTarget(target);
    if (path === "/healthz") return this.#answerHealth(request);
    if (this.#isFromEdge !== null && !this.#isFromEdge(request)) return this.#refuse("none", unsignedRequest);
    if (path.length + (search === "" ? 0 : 1 + search.length) > longestTarget)
      return this.#refuse("none", tooLong);
    const route = this.#parts.findRoute(path);
    if (route === null) return this.#refuse("none", unknownPath);
    if (request.method === "OPTIONS") return this.#finish(route.name, answerOptions());
    if (!isReadMethod(request.method)) return this.#refuse(route.name, otherMethod);
    const resource = route.resolve(search);
    if (resource instanceof Refusal) return this.#refuse(route.name, resource);
    return this.#serve(resource, request, target);
  }

  // Whether to send requests here; whether there is something to serve is /readyz on the admin port. It needs no edge
  // signature: load balancers request it.
  #answerHealth({ method }: RequestHead): Answer {
    if (method === "OPTIONS") return this.#finish("healthz", answerOptions());
    if (!isReadMethod(method)) return this.#refuse("healthz", otherMethod);
    const [text, status] = this.#isDraining ? (["stopping\n", 503] as const) : (["ok\n", 200] as const);
    const headers = { "content-type": "text/plain; charset=utf-8", ...notStoredFields };
    return this.#finish("healthz", new Answer(status, headers, text));
  }

  #serve(resource: Resource, request: RequestHead, target: string): Answer | Promise<Answer> {
    const cache = this.#cache;
    if (cache.snapshot === null) return this.#refuse(resource.route, nothingPublished);
    const encoding = this.#chooseEncoding(request.acceptEncoding);
    if (encoding === null) return this.#refuse(resource.route, noCodingAccepted);
    const entry = cache.find(resource);
    if (entry !== undefined) {
      cache.remember(target, entry);
      const representation = entry.current.representations[encoding];
      if (representation !== undefined) return choose(representation, request, entry);
    }
    const waiting = { resource, request, started: performance.now() };
    const built = cache.build(resource, encoding);
    if (built === null) return this.#refuse(resource.route, tooBusy);
    return built.then(
      (result) => this.#sendBuilt(result, waiting),
      (error) => this.#fail(error, waiting),
    );
  }

  #sendBuilt(built: Built, { resource, request, started }: Waiting): Answer {
    if (built instanceof Refusal) return this.#refuse(resource.route, built);
    if (built instanceof SignedRefusal) {
      return this.#finish(resource.route, forMethod(request, built.answer));
    }
    this.#parts.counters.misses++;
    const answer = choose(built.representation, request, built.entry);
    return answer.with({ "server-timing": `build;dur=${(performance.now() - started).toFixed(2)}` });
  }

  #fail(error: unknown, { resource: { route }, request }: Waiting): Answer {
    if (error instanceof DatabaseUnreadable) return this.#refuse(route, unreadable);
    const traceparent = this.#isFromEdge === null ? null : request.traceparent;
    return this.#finish(route, reportFailure(error, { traceparent, route, log: this.#parts.log }));
  }

  #refuse(route: RouteName, refusal: Refusal): Answer {
    return this.#finish(route, problemAnswer(refusal));
  }

  #finish(route: RouteName, answer: Answer): Answer {
    this.#parts.counters.count(route, answer.status);
    return answer;
  }
}

/** 304 when the client has the representation already, else 200. */
function choose(representation: Representation, request: RequestHead, entry: CacheEntry): Answer {
  const { ifNoneMatch } = request;
  entry.hits++;
  if (ifNoneMatch !== null && matchesEntityTag(ifNoneMatch, representation.etag)) {
    entry.counters.notModified++;
    return representation.notModified;
  }
  entry.counters.ok++;
  entry.counters.bytes += representation.bytes;
  return forMethod(request, representation.ok);
}

// A browser holds a digest against the body that it has got.
function forMethod({ method }: RequestHead, answer: Answer): Answer {
  return method === "HEAD" ? answer.without(bodyOnlyFields) : answer;
}

/**
 * Compares the header of a request with the few values that the edge can send now: three for each key of the ring,
 * computed once a minute. `now` gives Unix time in milliseconds. Bun compares bytes, in a time that depends on their
 * number only.
 */
function edgeVerifier(ring: KeyRing, now: () => number): (request: RequestHead) => boolean {
  const hashers = [...ring].map(([kid, key]) => ({ kid, hasher: new Bun.CryptoHasher("sha256", key) }));
  let minute = Number.NaN;
  let accepted: { bytes: Uint8Array; asReceived: Uint8Array }[] = [];
  const encoder = new TextEncoder();
  const received = new Uint8Array(longestSignature);
  return (request) => {
    const header = request.edgeSignature;
    if (header === null) return false;
    const current = edgeMinute(now() / 1000);
    if (current !== minute) {
      accepted = hashers
        .flatMap(({ kid, hasher }) =>
          acceptedSignatures(kid, current, (text) => hasher.copy().update(text).digest("base64url")),
        )
        .map((signature) => encoder.encode(signature))
        .map((bytes) => ({ bytes, asReceived: received.subarray(0, bytes.length) }));
      minute = current;
    }
    const { written } = encoder.encodeInto(header, received);
    // Which one is no secret. No closure, no view and no iterator for each request: they took half of the time.
    for (let index = 0; index < accepted.length; index++) {
      const { bytes, asReceived } = accepted[index] as (typeof accepted)[number];
      if (written === bytes.length && crypto.timingSafeEqual(asReceived, bytes)) return true;
    }
    return false;
  };
}

const longestSignature = 128; // bytes: with the longest id of a key it has 72, and what fills this is none

const unsignedRequest = new Refusal(
  "edge-signature",
  "This origin answers only requests that the edge has signed.",
);
const tooLong = new Refusal("uri-too-long", refusalDetails["uri-too-long"]);
const unknownPath = new Refusal("not-found", refusalDetails["not-found"]);
const otherMethod = new Refusal("method-not-allowed", refusalDetails["method-not-allowed"]);
const noCodingAccepted = new Refusal("not-acceptable", "Accept one of identity, br, zstd, gzip.");
const nothingPublished = new Refusal("not-ready", "Nothing was published yet.");
const unreadable = new Refusal("not-ready", "The answer is not in memory, and the database cannot be read.");
const tooBusy = new Refusal("busy", "Too many different answers are being built.");

/** The answer to a refusal (RFC 9457). Never stored: the next generation or a restart may change it. */
function problemAnswer({ kind, detail, extras }: Refusal): Answer {
  const problem = describeProblem(kind, detail, extras);
  const fields = {
    "content-type": problemContentType,
    ...notStoredFields,
    ...crossOriginFields,
    ...fieldsByKind[kind],
  };
  return new Answer(problem.status, fields, JSON.stringify(problem));
}

const fieldsByKind: Partial<Record<ProblemKind, Record<string, string>>> = {
  "method-not-allowed": { allow: preflightFields.allow },
  "not-acceptable": { vary: "Accept-Encoding" },
  busy: { "retry-after": "1" },
  "not-ready": { "retry-after": "5" },
};

/** The answer to OPTIONS, for people and for CORS preflights. */
function answerOptions(): Answer {
  return new Answer(204, preflightFields, null);
}

/** `traceparent`: of a request that the edge has sent; null of any other, which may name a visitor. */
type FailedRequest = { traceparent: string | null; route: RouteName; log: Logger };

/** Logs what went wrong under an id, and answers 500 with nothing but the id. */
function reportFailure(error: unknown, { traceparent, route, log }: FailedRequest): Answer {
  const requestId = crypto.randomUUID();
  const traceId = readTraceId(traceparent);
  const { stack = String(error) } = error as Error;
  const facts = { request_id: requestId, trace_id: traceId, route, error: stack };
  log("error", "request_failed", "A request failed with an unexpected error.", facts);
  return problemAnswer(
    new Refusal("internal", "The log has the cause under this id.", { instance: `urn:uuid:${requestId}` }),
  );
}
