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

/** The process answers. Whether it has something to serve is /readyz on the admin port. */
export function healthy(): Response {
  return new Response("ok\n", { headers: { "content-type": "text/plain; charset=utf-8", ...notStored } });
}
