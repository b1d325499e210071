import { type Check, checkedSend } from "./checked-send.ts";
import { conditionalSend } from "./conditional-send.ts";
import { type RetryPolicy, retryingSend, type Send } from "./retrying-send.ts";

export type Connection = Partial<RetryPolicy> & {
  /** The address of the edge or the origin, like https://trending.example.com. Default: the site of the page. */
  baseUrl?: string;
  /**
   * For how many addresses the last answer is kept, to ask whether it has changed. Default: 50, and 0 in a page, where
   * the browser does the same.
   */
  keptAnswers?: number;
  /** Checks every answer: createVerifier() of @trendvault/client/verify makes one. */
  verify?: Check;
  /** Sends requests in place of fetch(). */
  fetch?: Send;
};

/** Sends requests as a connection says: again after failures, conditionally, and checked. */
export function connectionSend({
  retries = 2,
  longestWaitSeconds = 60,
  keptAnswers = "document" in globalThis ? 0 : 50,
  verify,
  fetch = (request) => globalThis.fetch(request),
}: Connection): Send {
  const send = conditionalSend(retryingSend(fetch, { retries, longestWaitSeconds }), keptAnswers);
  return verify === undefined ? send : checkedSend(send, verify);
}

/** The address of a server, to which paths are added. */
export function baseOf({ baseUrl = "" }: Connection): string {
  return baseUrl.replace(/\/+$/, "");
}
