import {
  crossOriginFields,
  isReadMethod,
  longestTarget,
  matchesEntityTag,
  preflightFields,
  readTraceId,
  refusalDetails,
  traceparentHeader,
} from "@trendvault/contract/http";
import type { KeyRing } from "@trendvault/contract/keys";
import { describeProblem, type ProblemKind, problemContentType } from "@trendvault/contract/problem";
import { acceptedSignatures, edgeMinute, edgeSignatureHeader } from "@trendvault/contract/request-signatures";
import { bodyOnlyFields } from "@trendvault/contract/signature-base";
import { DatabaseUnreadable } from "../database/database-files.ts";
import type { Logger } from "../log.ts";
import type { FailurePage } from "../resources/pages.ts";
import { notStoredFields, Refusal, type Resource, type RouteName } from "../resources/resource.ts";
import type { CacheEntry } from "../serving/builder.ts";
import type { Counters } from "../serving/counters.ts";
import { memoizedChooseEncoding, type Representation, SignedRefusal } from "../serving/representation.ts";
import type { BuildResult, ResponseCache } from "../serving/response-cache.ts";
import type { FindRoute } from "./routes.ts";
import { splitTarget } from "./routes.ts";

type RequestHandlerParts = {
  cache: ResponseCache;
  counters: Counters;
  findRoute: FindRoute;
  failurePage: FailurePage;
  /** Null: requests need no signature of the edge. */
  edgeKeys: KeyRing | null;
  /** Unix time in milliseconds. */
  clock: () => number;
  log: Logger;
};

/** A request whose answer is built since `started`, in milliseconds. */
type Waiting = { resource: Resource; request: Request; started: number };

/**
 * From a request to its response; no port is needed to call it. A request whose answer is in the cache needs what is in
 * `answer` and `send`: behind an edge a comparison of its signature, one look-up by the URL as it was received, two
 * header fields, a clone of a Response that was prepared before. What is not read there is not paid for there.
 */
export class RequestHandler {
  readonly #parts: RequestHandlerParts;
  readonly #cache: ResponseCache;
  /** Null: requests need no signature. */
  readonly #isFromEdge: ((request: Request) => boolean) | null;
  readonly #chooseEncoding = memoizedChooseEncoding();
  #isDraining = false;

  constructor(parts: RequestHandlerParts) {
    this.#parts = parts;
    this.#cache = parts.cache;
    this.#isFromEdge = parts.edgeKeys === null ? null : edgeVerifier(parts.edgeKeys, parts.clock);
  }

  answer(request: Request): Response | Promise<Response> {
    if (this.#isDraining || request.method !== "GET") return this.#answerPerson(request);
    if (this.#isFromEdge !== null && !this.#isFromEdge(request)) return this.#answerPerson(request);
    const entry = this.#cache.lookUp(request.url);
    if (entry === undefined) return this.#answerPerson(request);
    const encoding = this.#chooseEncoding(request.headers.get("accept-encoding"));
    const representation = encoding === null ? undefined : entry.current.representations[encoding];
    if (representation === undefined) return this.#answerPerson(request);
    return send(representation, request, entry);
  }

  /** The same, where a person who goes wrong sees a page: not behind an edge, which asks for JSON. */
  #answerPerson(request: Request): Response | Promise<Response> {
    const answer = this.#answerSlowly(request);
    if (this.#isFromEdge !== null) return answer;
    return answer instanceof Promise
      ? answer.then((response) => this.#forPerson(request, response))
      : this.#forPerson(request, answer);
  }

  #forPerson({ url, headers }: Request, response: Response): Response {
    if (response.headers.get("content-type") !== problemContentType) return response;
    const { path, search } = splitTarget(url);
    if (path.startsWith("/api/")) return response;
    response.headers.append("vary", "Accept");
    const lang = new URLSearchParams(search).get("lang");
    const body = this.#parts.failurePage(response.status, { path, headers, lang });
    if (body === null) return response;
    const page = new Response(body.bytes, {
      status: response.status,
      headers: { "content-type": body.contentType, ...notStoredFields, ...body.fields },
    });
    for (const name of ["vary", "allow", "retry-after", "connection"]) {
      const value = response.headers.get(name);
      if (value !== null) page.headers.set(name, value);
    }
    page.headers.append("vary", "Accept-Language");
    return page;
  }

  /** The answer to a request that failed before `answer`, or in it: of a request that may name a visitor nothing is logged. */
  answerFailure(error: unknown): Response {
    return reportFailure(error, { traceparent: null, route: "none", log: this.#parts.log });
  }

  /** From now on every answer closes its connection, and /healthz is 503. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Answers what has to be verified, parsed, built or refused. */
  #answerSlowly(request: Request): Response | Promise<Response> {
    const target = splitTarget(request.url);
    if (target.path === "/healthz") return this.#answerHealth(request);
    if (this.#isFromEdge !== null && !this.#isFromEdge(request)) return this.#refuse("none", unsignedRequest);
    const { path, search } = target;
    if (path.length + (search === "" ? 0 : 1 + search.length) > longestTarget)
      return this.#refuse("none", tooLong);
    const route = this.#parts.findRoute(target.path);
    if (route === null) return this.#refuse("none", unknownPath);
    if (request.method === "OPTIONS") return this.#finish(route.name, answerOptions());
    if (!isReadMethod(request.method)) return this.#refuse(route.name, otherMethod);
    const resource = route.resolve(target.search);
    if (resource instanceof Refusal) return this.#refuse(route.name, resource);
    return this.#serve(resource, request);
  }

  // Whether to send requests here; whether there is something to serve is /readyz on the admin port. It needs no edge
  // signature: load balancers request it.
  #answerHealth({ method }: Request): Response {
    if (method === "OPTIONS") return this.#finish("healthz", answerOptions());
    if (!isReadMethod(method)) return this.#refuse("healthz", otherMethod);
    const [text, status] = this.#isDraining ? ["stopping\n", 503] : ["ok\n", 200];
    const headers = { "content-type": "text/plain; charset=utf-8", ...notStoredFields };
    return this.#finish("healthz", new Response(text, { status, headers }));
  }

  #serve(resource: Resource, request: Request): Response | Promise<Response> {
    const cache = this.#cache;
    if (cache.snapshot === null) return this.#refuse(resource.route, nothingPublished);
    const encoding = this.#chooseEncoding(request.headers.get("accept-encoding"));
    if (encoding === null) return this.#refuse(resource.route, noCodingAccepted);
    const entry = cache.find(resource);
    if (entry !== undefined) {
      cache.remember(request.url, entry);
      const representation = entry.current.representations[encoding];
      if (representation !== undefined) return this.#send(representation, request, entry);
    }
    const waiting = { resource, request, started: performance.now() };
    try {
      const built = cache.build(resource, encoding);
      if (built === null) return this.#refuse(resource.route, tooBusy);
      if (!(built instanceof Promise)) return this.#sendBuilt(built, waiting);
      return built.then(
        (result) => this.#sendBuilt(result, waiting),
        (error) => this.#fail(error, waiting),
      );
    } catch (error) {
      return this.#fail(error, waiting);
    }
  }

  #sendBuilt(built: BuildResult, { resource, request, started }: Waiting): Response {
    if (built instanceof Refusal) return this.#refuse(resource.route, built);
    if (built instanceof SignedRefusal) {
      return this.#finish(resource.route, forMethod(request, built.response.clone() as Response));
    }
    this.#cache.remember(request.url, built.entry);
    this.#parts.counters.misses++;
    const response = this.#send(built.representation, request, built.entry);
    response.headers.set("server-timing", `build;dur=${(performance.now() - started).toFixed(2)}`);
    return response;
  }

  #fail(error: unknown, { resource: { route }, request }: Waiting): Response {
    if (error instanceof DatabaseUnreadable) return this.#refuse(route, unreadable);
    const traceparent = this.#isFromEdge === null ? null : request.headers.get(traceparentHeader);
    return this.#finish(route, reportFailure(error, { traceparent, route, log: this.#parts.log }));
  }

  #send(representation: Representation, request: Request, entry: CacheEntry): Response {
    return this.#close(forMethod(request, send(representation, request, entry)));
  }

  #refuse(route: RouteName, refusal: Refusal): Response {
    return this.#finish(route, problemResponse(refusal));
  }

  #finish(route: RouteName, response: Response): Response {
    this.#parts.counters.count(route, response.status);
    return this.#close(response);
  }

  // While draining, a client has to connect anew, to a process that goes on listening.
  #close(response: Response): Response {
    if (this.#isDraining) response.headers.set("connection", "close");
    return response;
  }
}

/** 304 when the client has the representation already, else 200. */
function send(representation: Representation, request: Request, entry: CacheEntry): Response {
  const ifNoneMatch = request.headers.get("if-none-match");
  entry.hits++;
  if (ifNoneMatch !== null && matchesEntityTag(ifNoneMatch, representation.etag)) {
    entry.counters.notModified++;
    return representation.notModified.clone() as Response;
  }
  entry.counters.ok++;
  entry.counters.bytes += representation.bytes;
  return representation.ok.clone() as Response; // sending a Response uses it up
}

// A browser holds a digest against the body that it has got.
function forMethod({ method }: Request, response: Response): Response {
  if (method === "HEAD") for (const name of bodyOnlyFields) response.headers.delete(name);
  return response;
}

/**
 * Compares the header of a request with the few values that the edge can send now: three for each key of the ring,
 * computed once a minute. `now` gives Unix time in milliseconds. Bun compares bytes, in a time that depends on their
 * number only: in JavaScript, which no worker optimises, that took half a microsecond.
 */
function edgeVerifier(ring: KeyRing, now: () => number): (request: Request) => boolean {
  const hashers = [...ring].map(([kid, key]) => ({ kid, hasher: new Bun.CryptoHasher("sha256", key) }));
  let minute = Number.NaN;
  let accepted: { bytes: Uint8Array; asReceived: Uint8Array }[] = [];
  const encoder = new TextEncoder();
  const received = new Uint8Array(longestSignature);
  return (request) => {
    const header = request.headers.get(edgeSignatureHeader);
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
function problemResponse({ kind, detail, extras }: Refusal): Response {
  const problem = describeProblem(kind, detail, extras);
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: {
      "content-type": problemContentType,
      ...notStoredFields,
      ...crossOriginFields,
      ...fieldsByKind[kind],
    },
  });
}

const fieldsByKind: Partial<Record<ProblemKind, Record<string, string>>> = {
  "method-not-allowed": { allow: preflightFields.allow },
  "not-acceptable": { vary: "Accept-Encoding" },
  busy: { "retry-after": "1" },
  "not-ready": { "retry-after": "5" },
};

/** The answer to OPTIONS, for people and for CORS preflights. */
function answerOptions(): Response {
  return new Response(null, { status: 204, headers: preflightFields });
}

/** `traceparent`: of a request that the edge has sent; null of any other, which may name a visitor. */
type FailedRequest = { traceparent: string | null; route: RouteName; log: Logger };

/** Logs what went wrong under an id, and answers 500 with nothing but the id. */
function reportFailure(error: unknown, { traceparent, route, log }: FailedRequest): Response {
  const requestId = crypto.randomUUID();
  const traceId = readTraceId(traceparent);
  const { stack = String(error) } = error as Error;
  const facts = { request_id: requestId, trace_id: traceId, route, error: stack };
  log("error", "request_failed", "A request failed with an unexpected error.", facts);
  return problemResponse(
    new Refusal("internal", "The log has the cause under this id.", { instance: `urn:uuid:${requestId}` }),
  );
}
