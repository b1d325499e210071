/** Sends one request. What fetch() is, less its other forms. */
export type Send = (request: Request) => Promise<Response>;

export type RetryPolicy = {
  /** How often a request is sent again, at most. */
  retries: number;
  /** A server that asks for a longer wait (Retry-After) is not asked again: its answer is the result. */
  longestWaitSeconds: number;
};

/** Waits, or throws the signal's reason as soon as it is aborted. */
export type Wait = (milliseconds: number, signal: AbortSignal) => Promise<void>;

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

/** How long the answer asks clients to wait, or null when it does not say. */
export function retryAfterSeconds({ headers }: Response): number | null {
  const value = headers.get("retry-after");
  if (value === null) return null;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? null : Math.max(0, seconds);
}

type Failure = { error: unknown };

const firstWaitSeconds = 0.5;
const busyStatuses = [429, 503];

/** A failure of the network may pass. What the caller aborted is thrown at once. */
function failureOf({ signal }: Request, error: unknown): Failure {
  if (signal.aborted) throw error;
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
