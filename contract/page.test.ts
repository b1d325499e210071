import { expect, test } from "bun:test";
import { allPageLanguages, failureOf, pageFields, policies, readPageHead, readThumbHosts } from "./page.ts";

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

const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";
test.each([
  [browser, true],
  ["text/html, */*", true], // named, where all else is a range
  ["TEXT/HTML ; Q=0.5", true],
  ["text/*", true],
  ["text/html,, ", true], // empty elements say nothing
  ["application/json;q=0.4, text/html;q=0.5", true],
  ["application/problem+json;q=0.001, text/html;q=0.002", true],
  ["", false],
  ["*/*", false],
  ["text/html;q=0", false],
  ["text/html;q=0.000, */*;q=0.9", false],
  ["text/html;q=0, */*;q=0", false],
  ["text/html;q=much", false],
  ["text/*, text/html;q=0", false], // of two ranges the more specific one holds
  ["application/json, text/html;q=0.9", false],
  ["text/html, application/problem+json", false],
  ["application/*, text/html;q=0.9", false],
  ["text/htmlx", false],
])("who accepts %p and goes wrong gets a page: %p", (accept, isPage) => {
  const asked = { headers: new Headers(accept === "" ? {} : { accept }), lang: null };
  expect(failureOf(404, { ...asked, known: allPageLanguages() }) !== null).toBe(isPage);
});

test.each([
  ["xx, de-AT;q=0.9, en;q=0.8", null, "de"],
  ["fr;q=0.2, PL;q=0.7, de;q=0", null, "pl"],
  ["de;q=0, *", null, "en"],
  ["de", "fr", "fr"],
  ["de", "xx", "de"],
  ["", null, "en"],
])("with the languages %p, on a page whose own is %p, they read %s", (languages, lang, expected) => {
  const headers = new Headers({ accept: browser, "accept-language": languages });
  expect(failureOf(503, { headers, lang, known: allPageLanguages() })).toEqual([503, expected]);
});
