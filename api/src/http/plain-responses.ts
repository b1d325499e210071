import { preflightFields } from "@trendvault/contract/http-rules";
import { notStored } from "./cache-policy.ts";

/** The answer to OPTIONS, for people and for CORS preflights. */
export function allowedMethods(): Response {
  return new Response(null, { status: 204, headers: preflightFields });
}

/**
 * Whether to send requests here: not while the process is leaving. Whether it has something to serve is
 * /readyz on the admin port.
 */
export function describeHealth(draining: boolean): Response {
  const headers = { "content-type": "text/plain; charset=utf-8", ...notStored };
  return draining ? new Response("leaving\n", { status: 503, headers }) : new Response("ok\n", { headers });
}
