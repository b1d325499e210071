/** One TrendVault, and how it is reached. */
export type Client = {
  /** Its address, to which paths are added; "" is the site of the page. */
  readonly baseUrl: string;
  readonly send: Send;
};

/** Sends one request. What fetch() is, less its other forms. */
type Send = (request: Request) => Promise<Response>;

export type Connection = Partial<RetryPolicy> & {
  /** The address of the edge or the origin, like https://trending.example.com. Default: the site of the page. */
  baseUrl?: string;
  /**
   * For how many addresses the last answer is kept, to ask whether it has changed. Default: 50, and 0 in a page, where
   * the browser does the same.
   */
  keptAnswers?: number;
  /** How long an answer may take, with its body. Default: 30. */
  timeoutSeconds?: number;
  /** Checks every answer: createVerifier() of @trendvault/client/verify makes one. */
  verify?: Check;
  /** Sends requests in place of fetch(). */
  fetch?: Send;
};

/** An answer with its whole body, and what was asked. */
export type Answer = {
  url: string;
  status: number;
  headers: Headers;
  body: Uint8Array<ArrayBuffer>;
};

/** Throws when an answer must not be used. */
export type Check = (answer: Answer) => Promise<void>;

/**
 * A client of one TrendVault: it sends requests again after failures, conditionally, in limited time, and checked.
 *
 * @throws RangeError for a `baseUrl` without a scheme
 */
export function connect({
  baseUrl = "",
  retries = 2,
  longestWaitSeconds = 60,
  keptAnswers = "document" in globalThis ? 0 : 50,
  timeoutSeconds = 30,
  verify,
  fetch = (request) => globalThis.fetch(request),
}: Connection = {}): Client {
  if (!/^(https?:\/\/[^/]|$)/i.test(baseUrl)) {
    throw new RangeError(`Cannot connect to "${baseUrl}": an address begins with https://`);
  }
  const once = limitedSend(fetch, timeoutSeconds);
  const send = conditionalSend(retryingSend(once, { retries, longestWaitSeconds }), keptAnswers);
  return {
    baseUrl: baseUrl.replace(/\/+$/, ""),
    send: verify === undefined ? send : checkedSend(send, verify),
  };
}

/**
 * A path that an answer names, if it is one of the server that gave it: added to the server's address, any other text
 * could name another server ("@other.example", "//other.example"). @throws TypeError when it is not
 */
export function sameOriginPath(path: string): string {
  if (/^\/(?![/\\])[!-~]*$/.test(path)) return path;
  throw new TypeError("Cannot follow an address of another server");
}

/** How long the answer asks clients to wait, or null when it does not say. */
export function retryAfterSeconds({ headers }: Response): number | null {
  const value = headers.get("retry-after");
  if (value === null) return null;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? null : Math.max(0, seconds);
}

/** Ends a request that takes too long, also while its body is read, and names the address in what it throws. */
function limitedSend(send: Send, seconds: number): Send {
  return async (request) => {
    const { url, signal } = request;
    const end = new AbortController();
    const onAbort = () => end.abort(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    const limited = new Request(request, { signal: end.signal });
    const onTimeout = () => {
      // Held until now: WebKit 2.50 collects the signal of a request that nothing holds, and fetch() then never ends.
      if (limited.signal.aborted) return;
      end.abort(new DOMException(`Cannot read ${url}: it took longer than ${seconds} s`, "TimeoutError"));
    };
    // Not ended with the head of the answer: the body may hang, too. In Node.js it keeps no process running.
    const timer = setTimeout(onTimeout, seconds * 1000) as unknown as { unref?: () => void };
    timer.unref?.();
    try {
      return await send(limited);
    } catch (error) {
      throw end.signal.aborted ? end.signal.reason : networkFailure(url, error);
    }
  };
}

function networkFailure(url: string, cause: unknown): TypeError {
  return new TypeError(`Cannot read ${url}: ${cause instanceof Error ? cause.message : cause}`, { cause });
}

/** The whole body of an answer. Where it breaks off, the error is a TypeError without an address. */
export async function readBody(response: Response, url: string): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    throw error instanceof TypeError ? networkFailure(url, error) : error; // others say why it was ended
  }
}

type RetryPolicy = {
  /** How often a request is sent again, at most. */
  retries: number;
  /** A server that asks for a longer wait (Retry-After) is not asked again: its answer is the result. */
  longestWaitSeconds: number;
};

/** Waits, or throws the signal's reason as soon as it is aborted. */
type Wait = (milliseconds: number, signal: AbortSignal) => Promise<void>;

/**
 * Sends a GET again when the network failed, or when the server is busy (429, 503) and Retry-After (RFC 9110, section
 * 10.2.3) names no longer wait than the policy allows. Without Retry-After it waits half a second, twice as long each
 * time. Up to half of the wait is added at random, so that many clients do not come back at once.
 */
export function retryingSend(send: Send, policy: RetryPolicy, wait: Wait = waitOn): Send {
  return async (request) => {
    if (request.method !== "GET") return send(request);
    for (let attempt = 0; ; attempt++) {
      const outcome = await send(request).catch((error: unknown) => failureOf(request, error));
      const seconds = waitSeconds(outcome, attempt);
      if (seconds === null || attempt >= policy.retries || seconds > policy.longestWaitSeconds) {
        return answerOf(outcome);
      }
      await wait(seconds * 1000 * (1 + Math.random() / 2), request.signal);
    }
  };
}

type Failure = { error: unknown };

const firstWaitSeconds = 0.5;
const busyStatuses = [429, 503];

/** A failure of the network may pass. What the caller aborted is thrown at once, and what took too long. */
function failureOf({ signal }: Request, error: unknown): Failure {
  if (signal.aborted || (error as Error).name === "TimeoutError") throw error;
  return { error };
}

function waitSeconds(outcome: Response | Failure, attempt: number): number | null {
  const backoff = firstWaitSeconds * 2 ** attempt;
  if (!(outcome instanceof Response)) return backoff;
  return busyStatuses.includes(outcome.status) ? (retryAfterSeconds(outcome) ?? backoff) : null;
}

function answerOf(outcome: Response | Failure): Response {
  if (outcome instanceof Response) return outcome;
  throw outcome.error;
}

function waitOn(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener("abort", done);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      if (signal.aborted) reject(signal.reason);
      else resolve();
    }
  });
}

type Kept = { etag: string; status: number; headers: Headers; body: Uint8Array<ArrayBuffer> };

/** What of a 304 replaces what was kept. Signed fields stay: the signature is the kept one, over the kept body. */
const refreshedFields = ["age", "cache-control", "cache-status", "date", "expires", "server-timing"];

/**
 * Keeps the answers of the last addresses with their ETag, and asks whether they have changed (RFC 9110, section
 * 13.1.2): a 304 becomes the kept answer. `capacity` is the number of addresses.
 */
function conditionalSend(send: Send, capacity: number): Send {
  if (capacity === 0) return send;
  const kept = new Map<string, Kept>();
  return async (request) => {
    if (request.method !== "GET") return send(request);
    const known = kept.get(request.url);
    const response = await send(known === undefined ? request : ifChanged(request, known));
    if (response.status === 304 && known !== undefined) return renew(known, response.headers);
    kept.delete(request.url);
    const answer = await readAnswer(response, request.url);
    if (answer === null) return response;
    kept.set(request.url, answer);
    if (kept.size > capacity) kept.delete(kept.keys().next().value ?? "");
    return asResponse(answer);
  };
}

/** A success with an ETag, else null. */
async function readAnswer(response: Response, url: string): Promise<Kept | null> {
  const etag = response.headers.get("etag");
  if (!response.ok || etag === null) return null;
  const body = await readBody(response, url);
  return { etag, status: response.status, headers: new Headers(response.headers), body };
}

function ifChanged(request: Request, { etag }: Kept): Request {
  const conditional = new Request(request);
  conditional.headers.set("if-none-match", etag);
  return conditional;
}

function renew(known: Kept, headers: Headers): Response {
  for (const name of refreshedFields) {
    const value = headers.get(name);
    if (value !== null) known.headers.set(name, value);
  }
  return asResponse(known);
}

function asResponse({ status, headers, body }: Kept): Response {
  return new Response(body, { status, headers });
}

/** Lets through answers to GET that a check accepts. Problems are not checked: they are errors anyway. */
function checkedSend(send: Send, check: Check): Send {
  return async (request) => {
    const response = await send(request);
    if (request.method !== "GET" || !response.ok) return response;
    const body = await readBody(response, request.url);
    const { status, headers } = response;
    await check({ url: request.url, status, headers, body });
    return new Response(body, { status, headers });
  };
}
