import { expect, test } from "bun:test";
import { beginTrace, readTraceId } from "./http.ts";

test("a trace has the form of version 00, and ids that no other has", () => {
  const traces = Array.from({ length: 1000 }, beginTrace);
  for (const { traceId, traceparent } of traces) {
    expect(traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(readTraceId(traceparent)).toBe(traceId);
  }
  expect(new Set(traces.map(({ traceId }) => traceId)).size).toBe(1000);
  expect(new Set(traces.map(({ traceparent }) => traceparent.slice(36, 52))).size).toBe(1000);
});

const id = "4bf92f3577b34da6a3ce929d0e0e4736";

test.each([
  [`00-${id}-00f067aa0ba902b7-01`, id],
  [`cc-${id}-00f067aa0ba902b7-01-what-the-future-brings`, id],
  [`00-${"0".repeat(32)}-00f067aa0ba902b7-01`, null],
  [`00-${id.toUpperCase()}-00f067aa0ba902b7-01`, null],
  [`00-${id.slice(1)}-00f067aa0ba902b7-01`, null],
  ["someone@example.test", null],
  ["", null],
  [null, null],
])("of %p the trace id is %p", (traceparent, expected) => {
  expect(readTraceId(traceparent)).toBe(expected);
});
