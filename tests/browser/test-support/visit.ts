import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import axe from "axe-core";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from "playwright-core";

/**
 * `errors` are what a test expects in the console; `hosts` are those, besides the edge's, that a page may ask. A page
 * has no service worker unless `serviceWorkers` says "allow": what the worker asks for passes a test's routes by.
 */
export type VisitOptions = BrowserContextOptions & { errors?: readonly RegExp[]; hosts?: readonly string[] };

// Guards against hanging, in milliseconds: for one wait of Playwright's, and for all of a visit, as what a page promises
// to a test has no time limit. Tests send a link or button its click: one at a place misses what moves.
const longestWait = 180_000;
const longestVisit = 400_000;

/** What every test may find: tests set a page offline, whatever it is loading, and forbid it its service worker. */
const expectedEverywhere = [/ERR_INTERNET_DISCONNECTED/, /Service Worker registration blocked/];

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
  const context = await (await browser()).newContext({ baseURL, serviceWorkers: "block", ...options });
  context.setDefaultTimeout(longestWait);
  const findings = await watch(context, [new URL(baseURL).host, ...hosts]);
  const reason = `This has not come within ${longestVisit / 1000} s of a visit`; // of what the test awaits then
  const guard = setTimeout(() => context.close({ reason }), longestVisit);
  try {
    await run({ page: await context.newPage(), context });
    assert.deepEqual(
      findings.filter(
        (finding) => ![...expectedEverywhere, ...errors].some((expected) => expected.test(finding)),
      ),
      [],
    );
  } finally {
    clearTimeout(guard);
    // A request that a test answers itself may still wait for its answer, which nobody needs any more.
    const routed = [context, ...context.pages()].map((one) => one.unrouteAll({ behavior: "ignoreErrors" }));
    await Promise.allSettled(routed); // the guard may have closed them
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

const tools = join(import.meta.dirname, "../../../.tools");

/** No request leaves this machine, whatever a page asks for. */
const onlyThisMachine = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE *.localhost";

let launched: Promise<Browser> | undefined;

/** The Chromium that bin/setup installed, started once for all tests of this process. */
export function browser(): Promise<Browser> {
  launched ??= chromium.launch({
    executablePath: join(tools, "bin/chromium"),
    args: [onlyThisMachine, "--font-render-hinting=none"],
    env: {
      ...(process.env as Record<string, string>),
      LD_LIBRARY_PATH: join(tools, "browser/lib"),
      FONTCONFIG_FILE: join(tools, "browser/fonts.conf"),
      XDG_CACHE_HOME: join(tools, "browser/cache"), // what fonts.conf keeps its cache below
    },
  });
  return launched;
}

export async function closeBrowser(): Promise<void> {
  await (await launched)?.close();
  launched = undefined;
}

/** What a path answers; its status is 200. */
export type Answer = { headers?: Record<string, string>; body: string | Uint8Array };

/** Another site, of a partner or a stranger, on this machine. */
export type Site = { url: string; host: string; stop: () => Promise<void> };

/** Serves answers by path under a name of its own, so that no cookie and no cache is shared with other sites. */
export async function serveSite(
  name: string,
  answers: Record<string, Answer> | ((path: string) => Answer | undefined),
): Promise<Site> {
  const find = typeof answers === "function" ? answers : (path: string) => answers[path];
  const server = createServer(({ url = "" }, response) => {
    let answer: Answer | undefined;
    try {
      answer = find(new URL(url, "http://localhost").pathname);
    } catch (error) {
      response.writeHead(500).end(String(error)); // a page would wait for it for ever; the browser's console has it
      return;
    }
    if (answer === undefined) response.writeHead(404).end();
    else response.writeHead(200, { "content-type": "text/html", ...answer.headers }).end(answer.body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const host = `${name}.localhost:${port}`;
  const stop = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  return { url: `http://${host}`, host, stop };
}

/** Fails with what axe finds on the page as it is now, by its rules of WCAG 2.2 (A and AA) and of good practice. */
export async function assertAccessible(page: Page): Promise<void> {
  // What fades in has too little contrast until it is there.
  await page.evaluate(() => Promise.allSettled(document.getAnimations().map(({ finished }) => finished)));
  // Through the debugger, which the page's policy does not concern.
  await page.evaluate(axe.source);
  const findings = await page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run({
      preload: false, // it copies stylesheets into style elements, against the policy, for css-orientation-lock only
    });
    return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes[0]?.html}`);
  });
  assert.deepEqual(findings, []);
}
