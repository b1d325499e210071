import { readTraceId } from "@trendvault/contract/http";
import type { Logger } from "../logging/logger.ts";
import { Refusal } from "../resources/refusal.ts";
import type { RouteName } from "../resources/resource.ts";
import { problemResponse } from "./problem-response.ts";

/** `traceparent`: of a request that the edge has sent; null of any other, which may name a visitor. */
type FailedRequest = { traceparent: string | null; route: RouteName; log: Logger };

/** Logs what went wrong under an id, and answers 500 with nothing but the id. */
export function reportFailure(error: unknown, { traceparent, route, log }: FailedRequest): Response {
  const requestId = crypto.randomUUID();
  const traceId = readTraceId(traceparent);
  const { stack = String(error) } = error as Error;
  const facts = { request_id: requestId, trace_id: traceId, route, error: stack };
  log("error", "request_failed", "A request failed with an unexpected error.", facts);
  return problemResponse(
    new Refusal("internal", "The log has the cause under this id.", { instance: `urn:uuid:${requestId}` }),
  );
}
