import { everyAnswer } from "./fields.ts";
import { isServed } from "./paths.ts";
import { refuse } from "./problem-response.ts";

const longestTarget = 2048; // characters of path and query, as at the origin
const methods = "GET, HEAD, OPTIONS";

/** The answer to what no copy answers: other paths and methods, OPTIONS, what is too long. Null for the rest. */
export function answerWithoutCopy(request: Request, { pathname, search }: URL): Response | null {
  if (pathname.length + search.length > longestTarget) {
    return refuse("uri-too-long", `Path and query may have ${longestTarget} characters together.`);
  }
  if (!isServed(pathname)) {
    return refuse("not-found", "There is no such path. What there is stands in /openapi.json.");
  }
  if (request.method === "OPTIONS") return allowedMethods();
  if (request.method !== "GET" && request.method !== "HEAD") {
    return refuse("method-not-allowed", "Only GET, HEAD and OPTIONS are allowed here.", {
      fields: { allow: methods },
    });
  }
  return null;
}

function allowedMethods(): Response {
  return new Response(null, {
    status: 204,
    headers: {
      ...everyAnswer,
      allow: methods,
      "access-control-allow-methods": methods,
      "access-control-allow-headers": "If-None-Match",
      "access-control-max-age": "86400",
    },
  });
}
