/** A trace as the field `traceparent` carries it (W3C Trace Context, version 00). */

export const traceparentHeader = "traceparent";

/** A request of ours, in a trace that begins with it. The ids are 32 and 16 hexadecimal digits. */
export type Trace = { traceId: string; spanId: string; traceparent: string };

/** A trace of random numbers: they say nothing of whom it is for. Whoever gets it decides whether to record it. */
export function beginTrace(): Trace {
  const [traceId, spanId] = [randomHex(), randomHex().slice(0, 16)];
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-00` };
}

/** The trace id in a `traceparent` (section 3.2), or null when it is none. */
export function readTraceId(traceparent: string | null): string | null {
  const match = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/.exec(traceparent ?? "");
  const traceId = match?.[1] ?? null;
  return traceId === "0".repeat(32) ? null : traceId;
}

function randomHex(): string {
  return crypto.randomUUID().replaceAll("-", ""); // 122 of 128 bits are random, and it is never zero
}
