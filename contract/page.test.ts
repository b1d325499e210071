import { expect, test } from "bun:test";
import { pageFields, policies, readPageHead, readThumbHosts } from "./page.ts";

test("the policy names the hosts of pictures, and allows nothing inline", () => {
  const policy = policies.page(["img.example", "127.0.0.1:8787"]);
  expect(policy).toContain("img-src 'self' img.example 127.0.0.1:8787;");
  expect(policy).toStartWith("default-src 'none'; script-src 'self'; style-src 'self';");
  expect(policy).not.toMatch(/unsafe|"/);
  expect(policies.page([])).toContain("img-src 'self';");
});

test("the policy of the reference allows nothing inline, and nothing of others", () => {
  expect(policies.docs).toStartWith("default-src 'none'; script-src 'self'; style-src 'self';");
  expect(policies.docs).toContain("connect-src 'self';");
  expect(policies.docs).not.toMatch(/unsafe|https?:|\*/);
});

test("the fields of a page come from its first elements", () => {
  const head = { generatedAt: "2026-11-21T10:00:00Z", policy: policies.page([]) };
  const html = `<meta name="generated" content="${head.generatedAt}"><meta content="${head.policy}"><p content="x">`;
  expect(readPageHead(html)).toEqual(head);
  const policyAt = (url: string) => pageFields(head, url)["content-security-policy"];
  expect(policyAt("/?region=DE")).toBe(`${head.policy}; frame-ancestors 'none'`);
  expect(policyAt("/embed?region=DE")).toBe(head.policy);
  expect(readPageHead("<h1>another page</h1>")).toBeNull();
  const hosts = readThumbHosts(Array.from({ length: 100 }, (_, n) => `thumbs-${n}.example`).join()) ?? [];
  const many = { ...head, policy: policies.page(hosts) };
  const long = (policy: string) => `<meta content="${head.generatedAt}"><meta content="${policy}">`;
  expect([hosts.length, readPageHead(long(many.policy))]).toEqual([100, many]);
  expect(readPageHead(long(many.policy.repeat(3)))).toBeNull(); // a policy that is cut would allow what its end forbids
});

test.each([
  ["", []],
  ["img.example", ["img.example"]],
  [" IMG.example:8443 , ,127.0.0.1:8787", ["img.example:8443", "127.0.0.1:8787"]],
  ["https://img.example", null],
  ["img.example/path", null],
  ["img.example; script-src *", null],
  ["*", null],
  ["img.example,".repeat(200), null],
  ["'unsafe-inline'", null],
])("THUMBNAIL_HOSTS of %p are %p", (text, hosts) => {
  expect(readThumbHosts(text)).toEqual(hosts);
});
