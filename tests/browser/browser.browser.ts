import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { crossOriginFields } from "@trendvault/contract/http";
import { regionCodes } from "@trendvault/contract/regions";
import type { Page } from "playwright-core";
import { sharedStack } from "./test-support/stack.ts";
import {
  type Answer,
  assertAccessible,
  browser,
  type Site,
  serveSite,
  type VisitOptions,
  visit,
} from "./test-support/visit.ts";

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

type Init = { method?: string; headers?: Record<string, string>; credentials?: "include" };

/** What docs/http-api.md promises to scripts of other sites, as a browser enforces it. */
describe("in a browser, a script of another site", () => {
  let edge: string;
  let partner: Site;
  before(async () => {
    edge = (await sharedStack()).edge.url;
    partner = await serveSite("partner", { "/": { body: "<!doctype html><title>Partner</title>" } });
  });
  after(() => partner.stop());

  /** What fetch() gives a script of the partner's page. */
  async function fetchThere(path: string, init: Init = {}, options: VisitOptions = {}) {
    let answer: { status: number; text: string; fields: Record<string, string> } | null = null;
    const hosts = [new URL(edge).host, partner.host];
    await visit(partner.url, { hosts, ...options }, async ({ page }) => {
      await page.goto("/");
      answer = await page.evaluate(
        async ([url, options]) => {
          const response = await fetch(url, options).catch(() => null);
          if (response === null) return null;
          const fields = Object.fromEntries(response.headers);
          return { status: response.status, text: await response.text(), fields };
        },
        [edge + path, init] as const,
      );
    });
    return answer as { status: number; text: string; fields: Record<string, string> } | null;
  }

  test("reads a list, and every field that it takes to check it", async () => {
    const answer = await fetchThere("/api/trending?region=DE&limit=5");
    assert.equal(answer?.status, 200);
    assert.equal(JSON.parse(answer.text).items.length, 5);
    const elsewhere = ["Allow", "Deprecation", "Retry-After", "Sunset"]; // of other answers
    for (const name of crossOriginFields["access-control-expose-headers"]
      .split(", ")
      .filter((name) => !elsewhere.includes(name))) {
      assert.ok(answer.fields[name.toLowerCase()], name);
    }
  });

  test("reads why a request is refused, and what to do", async () => {
    const errors = [/status of 40\d/];
    const unknown = await fetchThere("/api/trending?region=XX", {}, { errors });
    assert.equal(JSON.parse(unknown?.text ?? "").type, "/problems/invalid-parameter");
    const refused = await fetchThere("/api/regions", { method: "POST" }, { errors });
    assert.deepEqual([refused?.status, refused?.fields.allow], [405, "GET, HEAD, OPTIONS"]);
  });

  test("makes a conditional request, for which the browser asks before", async () => {
    const etag = (await fetchThere("/api/regions"))?.fields.etag ?? "";
    const headers = { "if-none-match": etag };
    assert.equal((await fetchThere("/api/regions", { headers }))?.status, 304);
  });

  test("cannot send cookies, nor header fields of its own", async () => {
    const errors = [/blocked by CORS policy/, /Failed to load resource/];
    assert.equal(await fetchThere("/api/regions", { credentials: "include" }, { errors }), null);
    const headers = { "x-other": "1" };
    assert.equal(await fetchThere("/api/regions", { headers }, { errors }), null);
  });

  test("sees how long a request took, and what the edge says of that", () =>
    visit(partner.url, { hosts: [new URL(edge).host, partner.host] }, async ({ page }) => {
      await page.goto("/");
      const timing = await page.evaluate(async (url) => {
        await (await fetch(url)).text();
        const [entry] = performance.getEntriesByName(url) as PerformanceResourceTiming[];
        return { started: entry?.responseStart, names: entry?.serverTiming.map(({ name }) => name) };
      }, `${edge}/api/regions`);
      assert.ok((timing.started ?? 0) > 0);
      assert.ok(timing.names?.includes("edge"));
    }));
});

describe("in a browser, the endpoint", () => {
  let edge: string;
  before(async () => {
    edge = (await sharedStack()).edge.url;
  });

  test("shows the regions as JSON", () =>
    visit(edge, {}, async ({ page }) => {
      await page.goto("/api/regions");
      const shown = JSON.parse((await page.locator("body").textContent()) ?? "") as {
        regions: { code: string }[];
      };
      assert.deepEqual(
        shown.regions.map(({ code }) => code),
        regionCodes,
      );
    }));

  test("explains its problems on pages that are accessible", () =>
    visit(edge, {}, async ({ page }) => {
      await page.goto("/problems/not-found");
      await assertAccessible(page);
    }));
});
