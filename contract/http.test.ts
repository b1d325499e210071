import { expect, test } from "bun:test";
import { join } from "node:path";
import { beginTrace, crossOriginFields, matchesEntityTag, readTraceId } from "./http.ts";
import { coveredComponents } from "./signature-base.ts";

const exposedFields = crossOriginFields["access-control-expose-headers"].split(", ");
const exposed = exposedFields.map((name) => name.toLowerCase());

test("what a signature covers can be read by other sites' scripts, so that a browser can verify it", () => {
  const always = ["content-type"]; // https://fetch.spec.whatwg.org/#cors-safelisted-response-header-name
  for (const name of [...coveredComponents.slice(1), "signature", "signature-input"]) {
    expect([...exposed, ...always]).toContain(name);
  }
});

test("docs/http-api.md names the fields that other sites' scripts can read", async () => {
  const documentation = await Bun.file(join(import.meta.dir, "../docs/http-api.md")).text();
  const [, list = ""] =
    /Besides the fields that they always can, they see\s([^;]+);/.exec(documentation) ?? [];
  expect([...list.matchAll(/`([^`]+)`/g)].map(([, name]) => name)).toEqual(exposedFields);
});

test.each([
  ['"abc"', true],
  ['W/"abc"', true],
  ['"x", "abc"', true],
  ['"x",W/"abc" , "y"', true],
  [', ,"x",, "abc",', true],
  ["*", true],
  [" * ", true],
  ['"abd"', false],
  ['"abc-br"', false],
  ["abc", false],
  ['w/"abc"', false],
  ['"x" "abc"', false],
  ['"a,*,b"', false],
  ['"x,"abc""', false],
  ["", false],
])('If-None-Match: %s names "abc": %p', (header, expected) => {
  expect(matchesEntityTag(header, '"abc"')).toBe(expected);
  expect(matchesEntityTag(header, 'W/"abc"')).toBe(expected); // a proxy that compresses makes a tag weak
});

test("a comma may be part of a tag", () => {
  expect(matchesEntityTag('"x", "a,b"', '"a,b"')).toBe(true);
});

test("a list of 100,000 characters is read in a moment", () => {
  expect(matchesEntityTag(" ".repeat(100_000), '"abc"')).toBe(false);
  expect(matchesEntityTag(`"${"a".repeat(100_000)}`, '"abc"')).toBe(false);
});

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
