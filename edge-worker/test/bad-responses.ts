import { signAgain } from "./keys.ts";
import type { Behaviour, WholeResponse } from "./origin-proxy.ts";

/** Valid responses to other requests. */
export type OtherResponses = Record<"region" | "window" | "limit" | "nextPage" | "missing", WholeResponse>;

/** What can come back instead of the response, by what it is. `others` may be filled in later. */
export function badResponses(others: OtherResponses): Record<string, Behaviour> {
  return {
    "status 500": () => ({
      status: 500,
      headers: { "content-type": "application/json" },
      body: Buffer.from("{}"),
    }),
    "a redirect": () => ({ status: 302, headers: { location: "/api/trending" }, body: Buffer.alloc(0) }),
    "HTML with status 200": () => ({
      status: 200,
      headers: { "content-type": "text/html" },
      body: Buffer.from("<h1>Please log in</h1>"),
    }),
    "nothing with status 200": (whole) => ({
      ...whole,
      body: Buffer.alloc(0),
      headers: without(whole, "content-length"),
    }),
    "half a body, then a closed connection": ({ status, headers, body }, _, response) => {
      response.writeHead(status, headers).write(body.subarray(0, body.length / 2), () => response.destroy());
      return "handled";
    },
    "half a body that says it is whole": (whole) => ({
      ...whole,
      headers: without(whole, "content-length"),
      body: whole.body.subarray(0, whole.body.length / 2),
    }),
    "a body with another title": (whole) => ({
      ...whole,
      body: Buffer.from(whole.body.toString().replace("Video", "Vixen")),
    }),
    "a body with another title and its digest": async (whole) => {
      const body = Buffer.from(whole.body.toString().replace("Video", "Vixen"));
      const digest = Buffer.from(await crypto.subtle.digest("SHA-256", body)).toString("base64");
      return { ...whole, headers: { ...whole.headers, "unencoded-digest": `sha-256=:${digest}:` }, body };
    },
    "a wrong signature": (whole) => ({
      ...whole,
      headers: { ...whole.headers, signature: `tv=:${"A".repeat(86)}==:` },
    }),
    "no signature": (whole) => ({ ...whole, headers: without(whole, "signature") }),
    "another entity tag": (whole) => ({ ...whole, headers: { ...whole.headers, etag: '"other"' } }),
    "a response that may not be stored": (whole) =>
      signAgain({ ...whole, headers: { ...whole.headers, "trendvault-cache-control": "no-store" } }),
    "other lifetimes": (whole) => ({
      ...whole,
      headers: { ...whole.headers, "trendvault-cache-control": "max-age=999999999" },
    }),
    "the address of another list": (whole) => ({
      ...whole,
      headers: { ...whole.headers, "content-location": "/api/trending?region=FR" },
    }),
    "the body of another region": () => others.region,
    "the body of another window": () => others.window,
    "a longer body": () => others.limit,
    "the body of the next page": () => others.nextPage,
    "a problem of another kind": () => problem(400, "/problems/edge-signature"),
    "an unsigned 400": () => problem(400, "/problems/invalid-parameter"),
    "an unsigned 404": () => problem(404, "/problems/not-found"),
    "an unsigned 410": () => problem(410, "/problems/generation-gone"),
    "the signed 404 of another address": () => others.missing,
    "20 MB": (whole) => ({
      ...whole,
      headers: without(whole, "content-length"),
      body: Buffer.alloc(20_000_000, " "),
    }),
    "a refused signature": () => problem(403, "/problems/edge-signature"),
    "a closed connection": (_whole, _target, response) => {
      response.destroy();
      return "handled";
    },
    "no response within the timeout": () => "handled",
  };
}

function without({ headers }: WholeResponse, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([other]) => other !== name));
}

function problem(status: number, type: string): WholeResponse {
  const headers = { "content-type": "application/problem+json" };
  return { status, headers, body: Buffer.from(JSON.stringify({ type, status, title: "", detail: "" })) };
}
