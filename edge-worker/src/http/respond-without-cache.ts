import {
  allowedMethods,
  isReadMethod,
  longestTarget,
  preflightFields,
  refusalDetails,
} from "@trendvault/contract/http";
import { canonicalPath } from "../rules/paths.ts";
import { baseHeaders } from "./base-headers.ts";
import { refuse } from "./problem-response.ts";

/**
 * The response to a request that needs neither cache nor origin: a target that is too long, other paths and
 * methods, OPTIONS. Null for the rest.
 */
export function respondWithoutCache(request: Request, { pathname, search }: URL): Response | null {
  if (pathname.length + search.length > longestTarget) {
    return refuse("uri-too-long", refusalDetails["uri-too-long"]);
  }
  if (canonicalPath(pathname) === null) return refuse("not-found", refusalDetails["not-found"]);
  if (request.method === "OPTIONS") return preflightResponse();
  if (!isReadMethod(request.method)) {
    return refuse("method-not-allowed", refusalDetails["method-not-allowed"], {
      headers: { allow: allowedMethods },
    });
  }
  return null;
}

function preflightResponse(): Response {
  return new Response(null, { status: 204, headers: { ...baseHeaders, ...preflightFields } });
}
