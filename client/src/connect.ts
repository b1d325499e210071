import { type Client, createClient } from "../generated/client/index.ts";
import { type Check, checkedSend } from "./requests/checked-send.ts";
import { conditionalSend } from "./requests/conditional-send.ts";
import { type RetryPolicy, retryingSend, type Send } from "./requests/retrying-send.ts";

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

/** A client of one TrendVault: for trending() and the others, and for the functions made from its description. */
export function connect({
  baseUrl = "",
  retries = 2,
  longestWaitSeconds = 60,
  keptAnswers = "document" in globalThis ? 0 : 50,
  verify,
  fetch = (request) => globalThis.fetch(request),
}: Connection = {}): Client {
  const conditional = conditionalSend(retryingSend(fetch, { retries, longestWaitSeconds }), keptAnswers);
  const send = verify === undefined ? conditional : checkedSend(conditional, verify);
  // The generated client calls its fetch with a Request only.
  return createClient({ baseUrl: baseUrl.replace(/\/+$/, ""), fetch: send as typeof globalThis.fetch });
}
