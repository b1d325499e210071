import type { InvalidParameter } from "@trendvault/contract/trending-query";
import { answerWithoutCopy } from "./answer-without-copy.ts";
import { readAsk } from "./ask.ts";
import { copyResponse } from "./copy-response.ts";
import { type Finder, findCopy } from "./find-copy.ts";
import { problemResponse, refuse } from "./problem-response.ts";
import type { Visit } from "./renewals.ts";

/** From a request to its response. */
export async function answer(request: Request, visit: Visit, finder: Finder): Promise<Response> {
  const url = new URL(request.url);
  const direct = answerWithoutCopy(request, url);
  if (direct !== null) return direct;
  const { ask, invalid } = readAsk(url, countryOf(request));
  if (ask === null) return refuseParameters(invalid);
  const found = await findCopy(ask, visit, finder);
  switch (found.kind) {
    case "copy":
      return copyResponse(found, { ask, request, now: finder.clock() });
    case "problem":
      return problemResponse(found.problem);
    case "nothing":
      return refuseForNow(found.why);
  }
}

function refuseParameters(invalid: InvalidParameter[]): Response {
  const detail = invalid.map((parameter) => `${parameter.name}: ${parameter.detail}`).join("; ");
  return refuse("invalid-parameter", detail, { invalid });
}

function refuseForNow(why: "origin-failed" | "too-many-misses"): Response {
  const fields = { "retry-after": "5" };
  return why === "origin-failed"
    ? refuse("not-ready", "The origin does not answer and there is no copy of this list.", { fields })
    : refuse("too-many-requests", "One network has asked for too many lists.", { fields });
}

function countryOf(request: Request): string | undefined {
  return (request.cf as IncomingRequestCfProperties | undefined)?.country;
}
