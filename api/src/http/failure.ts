import type { Logger } from "../logging/logger.ts";
import { Refusal } from "../resources/refusal.ts";
import type { RouteName } from "../resources/resource.ts";
import { problemResponse } from "./problem-response.ts";

/** Logs what went wrong under an id, and answers 500 with nothing but the id. */
export function reportFailure(
  error: unknown,
  { request, route, log }: { request: Request | null; route: RouteName; log: Logger },
): Response {
  const requestId = crypto.randomUUID();
  const traceId = readTraceId(request?.headers.get("traceparent") ?? null);
  const { stack = String(error) } = error as Error;
  const facts = { request_id: requestId, trace_id: traceId, route, error: stack };
  log("error", "request_failed", "A request failed with an unexpected error.", facts);
  return problemResponse(
    new Refusal("internal", "The log has the cause under this id.", { instance: `urn:uuid:${requestId}` }),
  );
}

/** The trace id of a W3C traceparent field (Trace Context, section 3.2), or null when it is not one. */
function readTraceId(traceparent: string | null): string | null {
  const match = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/.exec(traceparent ?? "");
  const traceId = match?.[1] ?? null;
  return traceId === "0".repeat(32) ? null : traceId;
}
