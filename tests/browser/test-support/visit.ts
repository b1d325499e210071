import assert from "node:assert/strict";
import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { browser } from "./launch.ts";

/** `errors` are what a test expects in the console; `hosts` are those, besides the edge's, that a page may ask. */
export type VisitOptions = BrowserContextOptions & { errors?: readonly RegExp[]; hosts?: readonly string[] };

const longestWait = 180_000; // ms; a busy machine may take longer than Playwright's 30 s

type Visit = { page: Page; context: BrowserContext };

/**
 * Opens a page in a visitor's new browser, and closes it after the test. The test fails when the browser prints an error
 * that it does not expect, when something is against the page's policy, and when another host is asked.
 */
export async function visit(
  baseURL: string,
  { errors = [], hosts = [], ...options }: VisitOptions,
  run: (visit: Visit) => Promise<void>,
): Promise<void> {
  const context = await (await browser()).newContext({ baseURL, ...options });
  context.setDefaultTimeout(longestWait);
  const findings = await watch(context, [new URL(baseURL).host, ...hosts]);
  try {
    await run({ page: await context.newPage(), context });
    assert.deepEqual(
      findings.filter((finding) => !errors.some((expected) => expected.test(finding))),
      [],
    );
  } finally {
    await context.close();
  }
}

/** What is wrong, as it is found. */
async function watch(context: BrowserContext, hosts: readonly string[]): Promise<string[]> {
  const findings: string[] = [];
  await context.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
      console.error(`Against the policy: ${violatedDirective}, ${blockedURI}`),
    );
  });
  context.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) findings.push(`console: ${message.text()}`);
  });
  context.on("weberror", (error) => findings.push(`exception: ${error.error().message}`));
  context.on("request", (request) => {
    const { protocol, host } = new URL(request.url());
    if (protocol.startsWith("http") && !hosts.includes(host)) findings.push(`request: ${request.url()}`);
  });
  return findings;
}
