import assert from "node:assert/strict";
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import compat from "@mdn/browser-compat-data" with { type: "json" };
import { freePort, killLaunched, launch, newFolder, until } from "@trendvault/kit/machine";
import type { Page } from "playwright-core";
import { idsOf, openPage, ranksOf, upTo } from "./test-support/open-page.ts";
import { sharedStack } from "./test-support/stack.ts";
import { serveSite, visit } from "./test-support/visit.ts";

type Version = string | boolean | null;
type Support = { version_added: Version; version_removed?: Version; flags?: unknown };
type Feature = { __compat?: { support: Record<string, Support | Support[]> } } & { [name: string]: Feature };

const readme = readFileSync(join(import.meta.dirname, "../../web/client/README.md"), "utf8");
const [, safari = "", chrome = "", firefox = ""] =
  /Safari ([\d.]+), Chromium (\d+),? and\s+Firefox (\d+)/.exec(readme) ?? [];
const oldest: Record<string, string> = { safari, safari_ios: safari, chrome, firefox };

const { api, javascript } = compat as unknown as { api: Feature; javascript: { builtins: Feature } };

/** The paths below globalThis, in the form of browser-compat-data, of what one of the oldest browsers lacks. */
function findNewer(): string[][] {
  const newer: string[][] = [];
  const walk = (feature: Feature, path: string[]) => {
    const { __compat: own, ...members } = feature;
    if (own !== undefined && Object.entries(oldest).some(([name, least]) => !isIn(own.support[name], least)))
      newer.push(path);
    else if (path.length < 3)
      for (const [name, member] of Object.entries(members)) walk(member, [...path, name]);
  };
  walk(api, []);
  walk(javascript.builtins, []);
  return newer;
}

function isIn(support: Support | Support[] | undefined, least: string): boolean {
  return [support ?? []]
    .flat()
    .some(
      ({ version_added: added, version_removed: removed, flags }) =>
        flags === undefined && isAtMost(added, least) && !isAtMost(removed ?? false, least),
    );
}

function isAtMost(version: Version, least: string): boolean {
  if (version === true) return true;
  if (!version || !/^≤?\d/.test(version)) return false; // "preview"
  const [left, right] = [version.replace("≤", ""), least].map((text) => text.split(".").map(Number));
  const [major = 0, minor = 0] = left ?? [];
  const [leastMajor = 0, leastMinor = 0] = right ?? [];
  return major < leastMajor || (major === leastMajor && minor <= leastMinor);
}

/** Where in a browser a feature is. Among built-in objects the data does not tell what is static. */
function placesOf(path: string[]): string[][] {
  const [owner, last = ""] = [path.slice(0, -1), path.at(-1)];
  const name = last.replace(/_static$/, "");
  if (owner.length === 0 || owner[0] === "_globals") return [[name]];
  const own = [...owner, name];
  const inherited = [...owner, "prototype", name];
  if (name !== last) return [own];
  if (owner[0] === "Window") return [[name], inherited];
  return (owner[0] ?? "") in javascript.builtins ? [own, inherited] : [inherited];
}

/** Takes from every document of a page, before its scripts run, what an old browser lacks. */
function makeOld(page: Page): Promise<unknown> {
  return page.addInitScript((places) => {
    for (const place of places) {
      let owner: unknown = globalThis;
      for (const name of place.slice(0, -1)) owner = Object(owner)[name];
      Reflect.deleteProperty(Object(owner), place.at(-1) ?? ""); // false for what cannot be taken
    }
  }, findNewer().flatMap(placesOf));
}

// What enforces the page's policy of trusted types cannot be taken away with them.
const errors = [/TrustedScriptURL|trusted-types/];

describe(`in a browser as old as Safari ${safari}, Chromium ${chrome} and Firefox ${firefox}`, () => {
  test("what is newer is taken away, and nothing else", () =>
    openPage(
      "/about",
      async ({ page }) => {
        const has = await page.evaluate(() => ({
          newer: [
            "parse" in URL,
            "withResolvers" in Promise,
            "any" in AbortSignal,
            "toWellFormed" in String.prototype,
          ],
          older: [
            "canParse" in URL,
            "at" in Array.prototype,
            "timeout" in AbortSignal,
            "fetch" in globalThis,
          ],
        }));
        assert.deepEqual(has, {
          newer: [false, false, false, false],
          older: [false, true, true, true],
        });
      },
      { prepare: makeOld, errors },
    ));

  test("the page shows its list, further ranks, another window and why", () =>
    openPage(
      "/?region=GB",
      async ({ page }) => {
        await page.locator("#more a").dispatchEvent("click");
        await page.locator('trendvault-list li[data-rank="48"]').waitFor();
        await page.locator("nav.windows a").first().dispatchEvent("click");
        await page.waitForURL("**/?region=GB&window=now");
        assert.deepEqual(await ranksOf(page), upTo(24));
        await page.locator("trendvault-list summary").first().dispatchEvent("click");
        await page.locator("trendvault-list .explanation[lang]").waitFor();
      },
      { prepare: makeOld, errors },
    ));

  test("the page shows the list of its HTML, in its style, where a template makes no shadow root", () =>
    openPage(
      "/?region=GB",
      async ({ page }) => {
        assert.deepEqual(await ranksOf(page), upTo(24));
        await page.waitForFunction(() => {
          const item = document.querySelector("trendvault-list")?.shadowRoot?.querySelector("li");
          return item && getComputedStyle(item).display === "grid";
        });
      },
      {
        prepare: async (page) => {
          await makeOld(page);
          // Chromium makes none of a mode that it does not know.
          await page.route("**/?region=GB", async (route) => {
            const response = await route.fetch();
            const html = await response.text();
            await route.fulfill({
              response,
              body: html.replace('shadowrootmode="open"', 'shadowrootmode="none"'),
            });
          });
        },
        errors: [...errors, /shadowrootmode|loopback|ERR_FAILED/], // what a test sends may load no pictures of this machine
      },
    ));

  test("the element shows its list, verified or not", async () => {
    const { edge, pictures } = await sharedStack();
    for (const attribute of ["", "verify", "views"]) {
      const body = `<!doctype html><script type="module" src="${edge.url}/assets/trendvault-list.js"></script>
<trendvault-list region="PL" ${attribute}></trendvault-list>`;
      const partner = await serveSite("partner", { "/": { body } });
      const hosts = [new URL(edge.url).host, pictures.host];
      await visit(partner.url, { hosts }, async ({ page }) => {
        await makeOld(page);
        await page.goto("/");
        await page.locator('trendvault-list li[data-rank="10"]').waitFor();
        assert.match((await idsOf(page)).join(" "), /^(pl-\d+ ?){10}$/);
      });
      await partner.stop();
    }
  });
});

/** Another browser, as Debian has it. `is` says whether an expression is true there. */
type Driven = {
  open(url: string): Promise<unknown>;
  is(expression: string): Promise<boolean>;
  close(): Promise<void>;
};

/** By WebDriver BiDi, which Firefox speaks itself. */
async function startFirefox(program: string): Promise<Driven> {
  const port = await freePort();
  const words = ["--headless", "--no-remote", "--profile", newFolder("firefox"), "--remote-debugging-port"];
  const child = launch([program, ...words, `${port}`]); // driven so, it asks none of its maker's servers
  let socket = new EventTarget() as WebSocket;
  await until(async () => {
    socket = new WebSocket(`ws://127.0.0.1:${port}/session`);
    const [{ type }] = await Promise.race([once(socket, "open"), once(socket, "error")]);
    return type === "open";
  });
  let id = 0;
  const ask = async (method: string, params: object) => {
    socket.send(JSON.stringify({ id: ++id, method, params }));
    const [{ data }] = await once(socket, "message"); // it tells nothing that nobody asked for
    const { result, message } = JSON.parse(data);
    assert.equal(message, undefined);
    return result;
  };
  await ask("session.new", { capabilities: {} });
  const { context } = (await ask("browsingContext.getTree", {})).contexts[0];
  return {
    open: (url) => ask("browsingContext.navigate", { context, url, wait: "complete" }),
    is: async (expression) => {
      const params = { expression: `Boolean(${expression})`, target: { context }, awaitPromise: false };
      return (await ask("script.evaluate", params)).result.value;
    },
    close: () => killLaunched(child),
  };
}

/** By WebDriver, with the browser that WebKitGTK brings for it. */
async function startWebKit(binary: string): Promise<Driven> {
  const port = await freePort();
  const child = launch(["xvfb-run", "-a", "WebKitWebDriver", `--port=${port}`]);
  const ask = async (path: string, body: object) => {
    const url = `http://127.0.0.1:${port}/session${path}`;
    const { value } = await (await fetch(url, { method: "POST", body: JSON.stringify(body) })).json();
    assert.equal(value?.error, undefined, value?.message);
    return value;
  };
  await until(() =>
    fetch(`http://127.0.0.1:${port}/status`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  const options = { "webkitgtk:browserOptions": { binary, args: ["--automation"] } };
  const { sessionId } = await ask("", { capabilities: { alwaysMatch: options } });
  return {
    open: (url) => ask(`/${sessionId}/url`, { url }),
    is: (expression) =>
      ask(`/${sessionId}/execute/sync`, { script: `return Boolean(${expression})`, args: [] }),
    close: () => killLaunched(child),
  };
}

const others = [
  { name: "Firefox", start: startFirefox, packages: "firefox-esr", where: "/usr/bin/firefox-esr" },
  {
    name: "WebKit",
    start: startWebKit,
    packages: "webkit2gtk-driver and xvfb",
    where: "/usr/lib/*/webkit2gtk-4.*/MiniBrowser",
  },
];
for (const { name, start, packages, where } of others) {
  const [program] = globSync(where);
  const skip = process.env.TEST_LONG
    ? program === undefined && `without Debian's ${packages}`
    : "in long runs only";
  test(`${name} shows the page, another country and the element, which ends its wait for a server`, {
    skip,
  }, async () => {
    const { edge } = await sharedStack();
    const silent = createServer(() => {}).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const src = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const body = `<!doctype html><script type="module" src="${edge.url}/assets/trendvault-list.js"></script>
<trendvault-list region="PL"></trendvault-list><trendvault-list src="${src}" lang="en">Our own</trendvault-list>`;
    const partner = await serveSite("partner", { "/": { body } });
    const browser = await start(program ?? "");
    try {
      const shows = (expression: string) => until(() => browser.is(expression));
      const list = (nth: number) => `document.querySelectorAll("trendvault-list")[${nth}].shadowRoot`;
      await browser.open(`${edge.url}/?region=GB`);
      await shows(`document.querySelector("#as-of time").textContent.includes("(")`);
      assert.ok(await browser.is(`${list(0)}.querySelector('li[data-rank="24"]')`));
      await browser.is(
        `(select => { select.value = "SE"; return select.dispatchEvent(new Event("change", { bubbles: true })); })(document.querySelector("select"))`,
      );
      await shows(`location.search === "?region=SE" && ${list(0)}.querySelector('[data-id^="se-"]')`);
      await browser.open(partner.url);
      await shows(`${list(0)}?.querySelector('li[data-rank="10"]')`);
      await shows(`${list(1)}?.textContent.includes("This could not be loaded.")`);
    } finally {
      await browser.close();
      await partner.stop();
      silent.close();
      silent.closeAllConnections();
    }
  });
}
