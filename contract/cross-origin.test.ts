import { expect, test } from "bun:test";
import { join } from "node:path";
import { exposedFields } from "./http.ts";
import { coveredFields } from "./signature-base.ts";

const exposed = exposedFields.map((name) => name.toLowerCase());

test("what a signature covers can be read by other sites' scripts, so that a browser can verify it", () => {
  const always = ["content-type"]; // https://fetch.spec.whatwg.org/#cors-safelisted-response-header-name
  for (const name of [...coveredFields, "signature", "signature-input"]) {
    expect([...exposed, ...always]).toContain(name);
  }
});

test("docs/http-api.md names the fields that other sites' scripts can read", async () => {
  const documentation = await Bun.file(join(import.meta.dir, "../docs/http-api.md")).text();
  const [, list = ""] =
    /Besides the fields that they always can, they see\s([^;]+);/.exec(documentation) ?? [];
  expect([...list.matchAll(/`([^`]+)`/g)].map(([, name]) => name)).toEqual([...exposedFields]);
});
