import { preflightFields } from "@trendvault/contract/http";
import { notStoredFields } from "../resources/cache-policy.ts";

/** The answer to OPTIONS, for people and for CORS preflights. */
export function preflightResponse(): Response {
  return new Response(null, { status: 204, headers: preflightFields });
}

/**
 * Whether to send requests here: 503 while the process is stopping. Whether it has something to serve is /readyz on the
 * admin port.
 */
export function describeHealth(isDraining: boolean): Response {
  const headers = { "content-type": "text/plain; charset=utf-8", ...notStoredFields };
  return isDraining
    ? new Response("stopping\n", { status: 503, headers })
    : new Response("ok\n", { headers });
}
