import type { Answer, Behaviour } from "./network.ts";

/** Good answers to other questions. */
export type Others = { region: Answer; window: Answer; limit: Answer };

/** What can come back instead of the answer, by what it is. `others` may be filled in later. */
export function badResponses(others: Others): Record<string, Behaviour> {
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
    "nothing with status 200": (answer) => ({
      ...answer,
      body: Buffer.alloc(0),
      headers: without(answer, "content-length"),
    }),
    "half a body, then a closed connection": ({ status, headers, body }, _, response) => {
      response.writeHead(status, headers).write(body.subarray(0, body.length / 2), () => response.destroy());
      return "handled";
    },
    "half a body that says it is whole": (answer) => ({
      ...answer,
      headers: without(answer, "content-length"),
      body: answer.body.subarray(0, answer.body.length / 2),
    }),
    "a body with another title": (answer) => ({
      ...answer,
      body: Buffer.from(answer.body.toString().replace("Video", "Vixen")),
    }),
    "a body with another title and its digest": async (answer) => {
      const body = Buffer.from(answer.body.toString().replace("Video", "Vixen"));
      const digest = Buffer.from(await crypto.subtle.digest("SHA-256", body)).toString("base64");
      return { ...answer, headers: { ...answer.headers, "unencoded-digest": `sha-256=:${digest}:` }, body };
    },
    "a wrong signature": (answer) => ({
      ...answer,
      headers: { ...answer.headers, signature: `tv=:${"A".repeat(86)}==:` },
    }),
    "no signature": (answer) => ({ ...answer, headers: without(answer, "signature") }),
    "another entity tag": (answer) => ({ ...answer, headers: { ...answer.headers, etag: '"other"' } }),
    "an answer that may not be kept": (answer) => ({
      ...answer,
      headers: { ...answer.headers, "cdn-cache-control": "no-store" },
    }),
    "the body of another region": () => others.region,
    "the body of another window": () => others.window,
    "a longer body": () => others.limit,
    "a problem of another kind": () => problem(400, "/problems/edge-signature"),
    "a refused signature": () => problem(403, "/problems/edge-signature"),
    "a closed connection": (_answer, _target, response) => {
      response.destroy();
      return "handled";
    },
    "no answer within the deadline": () => "handled",
  };
}

function without({ headers }: Answer, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([other]) => other !== name));
}

function problem(status: number, type: string): Answer {
  const headers = { "content-type": "application/problem+json" };
  return { status, headers, body: Buffer.from(JSON.stringify({ type, status, title: "", detail: "" })) };
}
