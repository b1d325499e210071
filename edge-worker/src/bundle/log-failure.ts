import type { SourceAnswer } from "../cache/document-source.ts";
import type { Logger } from "../log/logger.ts";
import { type CanonicalRequest, redactedTarget } from "../rules/canonical-request.ts";

/** Says why bundles have no answer to a request, and gives the answer that says so. */
export function logFailure(log: Logger, request: CanonicalRequest, error: unknown): SourceAnswer {
  const message = "The bundles gave no response that can be served.";
  const reason = error instanceof Error ? error.message : String(error);
  log({ level: "error", event: "bundle_failed", message, target: redactedTarget(request), reason });
  return { kind: "failed", status: null, retryAfter: 0 };
}
