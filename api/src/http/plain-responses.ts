import { notStored } from "./cache-policy.ts";

/** The answer to OPTIONS, for people and for CORS preflights. */
export function allowedMethods(): Response {
  const methods = "GET, HEAD, OPTIONS";
  return new Response(null, {
    status: 204,
    headers: {
      allow: methods,
      "access-control-allow-origin": "*",
      "access-control-allow-methods": methods,
      "access-control-allow-headers": "If-None-Match",
      "access-control-max-age": "86400",
    },
  });
}

/**
 * Whether to send requests here: not while the process is leaving. Whether it has something to serve is
 * /readyz on the admin port.
 */
export function describeHealth(draining: boolean): Response {
  const headers = { "content-type": "text/plain; charset=utf-8", ...notStored };
  return draining ? new Response("leaving\n", { status: 503, headers }) : new Response("ok\n", { headers });
}
