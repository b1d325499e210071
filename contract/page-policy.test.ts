import { expect, test } from "bun:test";
import { pagePolicy, readThumbHosts } from "./page-policy.ts";

test("the policy names the hosts of pictures, and allows nothing inline", () => {
  const policy = pagePolicy(["img.example", "127.0.0.1:8787"])["content-security-policy"] ?? "";
  expect(policy).toContain("img-src 'self' img.example 127.0.0.1:8787;");
  expect(policy).toStartWith("default-src 'none'; script-src 'self'; style-src 'self';");
  expect(policy).not.toContain("unsafe");
  expect(pagePolicy([])["content-security-policy"]).toContain("img-src 'self';");
});

test.each([
  ["", []],
  ["img.example", ["img.example"]],
  [" IMG.example:8443 , ,127.0.0.1:8787", ["img.example:8443", "127.0.0.1:8787"]],
  ["https://img.example", null],
  ["img.example/path", null],
  ["img.example; script-src *", null],
  ["*", null],
  ["'unsafe-inline'", null],
])("THUMB_HOSTS of %p are %p", (text, hosts) => {
  expect(readThumbHosts(text)).toEqual(hosts);
});
