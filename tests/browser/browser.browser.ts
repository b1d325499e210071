import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { browser } from "./test-support/launch.ts";
import { type Answer, type Site, serveSite } from "./test-support/site.ts";
import { visit } from "./test-support/visit.ts";

const hashOf = (text: string) => createHash("sha256").update(text).digest("base64");
const page = (policy: string, body = ""): Answer => ({
  headers: { "content-security-policy": policy },
  body: `<!doctype html><title>A page</title><body>${body}`,
});
const text = (body: string, headers: Record<string, string> = {}): Answer => ({
  headers: { "content-type": "text/plain", ...headers },
  body,
});
const digestOfGenuine = { "unencoded-digest": `sha-256=:${hashOf("genuine")}:` };

const answers: Record<string, Answer> = {
  "/": page("default-src 'none'; connect-src 'self'"),
  "/inline": page("script-src 'self'", "<script>window.ran = true</script>"),
  "/style": page("style-src 'self'", "<p style='color: red'>text"),
  "/trusted-types": page("require-trusted-types-for 'script'"),
  "/frame": page("frame-src 'self'", "<iframe src=/framed></iframe>"),
  "/framed": page("frame-ancestors 'none'", "framed"),
  "/genuine": text("genuine"),
  "/changed": text("changed"),
  "/genuine-digest": text("genuine", digestOfGenuine),
  "/changed-digest": text("changed", digestOfGenuine),
};

type Probe = { name: string; path: string; isEnforced: (page: Page) => Promise<boolean> };

/** What the page's and the element's safety is built on: the tests mean nothing in a browser that does not do it. */
const needed: Probe[] = [
  {
    name: "Content-Security-Policy of scripts",
    path: "/inline",
    isEnforced: (page) => page.evaluate(() => !("ran" in window)),
  },
  {
    name: "Content-Security-Policy of styles",
    path: "/style",
    isEnforced: (page) =>
      page.locator("p").evaluate((element) => getComputedStyle(element).color === "rgb(0, 0, 0)"),
  },
  {
    name: "frame-ancestors",
    path: "/frame",
    isEnforced: async (page) => !(await page.frames()[1]?.content())?.includes("framed"),
  },
  {
    name: "trusted types",
    path: "/trusted-types",
    isEnforced: (page) =>
      page.evaluate(() => {
        try {
          document.body.innerHTML = "<b>text</b>";
          return false;
        } catch {
          return true;
        }
      }),
  },
  {
    name: "Subresource Integrity",
    path: "/",
    isEnforced: async (page) =>
      (await canFetch(page, "/genuine", `sha256-${hashOf("genuine")}`)) &&
      !(await canFetch(page, "/changed", `sha256-${hashOf("genuine")}`)),
  },
];

/** What browsers begin to do: nothing depends on it. */
const unneeded: Probe[] = [
  {
    name: "Unencoded-Digest",
    path: "/",
    isEnforced: async (page) =>
      (await canFetch(page, "/genuine-digest")) && !(await canFetch(page, "/changed-digest")),
  },
];

function canFetch(page: Page, path: string, integrity = ""): Promise<boolean> {
  return page.evaluate(
    async ({ path, integrity }) => {
      try {
        await (await fetch(path, { integrity })).text();
        return true;
      } catch {
        return false;
      }
    },
    { path, integrity },
  );
}

const version = (await browser()).version();

describe(`Chromium ${version}`, () => {
  let site: Site;
  before(async () => {
    site = await serveSite("site", answers);
  });
  after(() => site.stop());

  const probe = ({ path, isEnforced }: Probe, report: (enforced: boolean) => void) =>
    visit(site.url, { errors: [/./] }, async ({ page }) => {
      await page.goto(path);
      report(await isEnforced(page));
    });

  for (const needs of needed) {
    test(`enforces: ${needs.name}`, () => probe(needs, assert.ok));
  }

  for (const maybe of unneeded) {
    test(`may or may not enforce: ${maybe.name}`, (context) =>
      probe(maybe, (enforced) =>
        context.diagnostic(`Chromium ${version} ${enforced ? "enforces" : "does not enforce"} ${maybe.name}`),
      ));
  }
});
