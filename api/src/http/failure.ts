import type { RouteName } from "../answers/resource.ts";
import type { Logger } from "../process/log.ts";
import { problemResponse } from "./problem-response.ts";
import { Refusal } from "./refusal.ts";

/** Logs what went wrong under an id, and answers with nothing but the id. */
export function reportFailure(
  error: unknown,
  { request, route, log }: { request: Request | null; route: RouteName; log: Logger },
): Response {
  const requestId = crypto.randomUUID();
  const traceId = readTraceId(request?.headers.get("traceparent") ?? null);
  const { stack = String(error) } = error as Error;
  log("error", "request failed", { request_id: requestId, trace_id: traceId, route, error: stack });
  return problemResponse(
    new Refusal("internal", "The log has more under this id.", { instance: `urn:uuid:${requestId}` }),
  );
}

/** The trace id of a W3C traceparent field (Trace Context, section 3.2), or null when it is not one. */
function readTraceId(traceparent: string | null): string | null {
  const match = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/.exec(traceparent ?? "");
  const traceId = match?.[1] ?? null;
  return traceId === "0".repeat(32) ? null : traceId;
}
