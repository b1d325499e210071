import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { paths } from "@trendvault/contract/paths";
import { until } from "@trendvault/kit/machine";
import { passOn, withLifetimes } from "@trendvault/kit/origin-proxy";
import { hostileText, Random } from "@trendvault/kit/random";
import type { Page } from "playwright-core";
import { idsOf, type OpenPage, openPage } from "./test-support/open-page.ts";
import { Stack, sharedStack } from "./test-support/stack.ts";
import { assertAccessible, visit } from "./test-support/visit.ts";

const notice = (page: Page) => page.locator("#notice");
/** Resolves when the page is kept for offline. */
const isKept = (page: Page) => page.waitForFunction(() => caches.match(location.href));
const minute = 60_000;
const worker = readFileSync(join(import.meta.dirname, "../../web/page/dist/public", paths.serviceWorker));
const expired = withLifetimes({ maxAge: 0, staleWhileRevalidate: 0, staleIfError: 43_200 });

describe("the page, when something changes or fails,", () => {
  test("tells that there is a newer list, and shows it when the visitor wants to", async () => {
    const stack = await sharedStack();
    stack.proxy.behaviour = expired; // the edge asks at once whether there is a newer list
    const prepare = (page: Page) => page.clock.install();
    await openPage(
      "/?region=CZ",
      async ({ page }) => {
        const shown = page.locator("#as-of time");
        const before = await shown.getAttribute("datetime");
        await stack.publish();
        await page.clock.runFor(minute + 1000);
        await notice(page).getByRole("button").waitFor();
        assert.equal(await shown.getAttribute("datetime"), before);
        await assertAccessible(page);
        await notice(page).getByRole("button").dispatchEvent("click");
        await notice(page).getByRole("button").waitFor({ state: "detached" });
        assert.notEqual(await shown.getAttribute("datetime"), before);
      },
      { prepare },
    );
    stack.proxy.behaviour = passOn;
  });

  test("tells at once that there is a newer list when a visitor comes back after minutes", async () => {
    const stack = await sharedStack();
    stack.proxy.behaviour = expired;
    await openPage(
      "/?region=CZ",
      async ({ page }) => {
        const show = (state: string) =>
          page.evaluate((value) => {
            Object.defineProperty(document, "visibilityState", { value, configurable: true });
            document.dispatchEvent(new Event("visibilitychange"));
          }, state);
        await show("hidden");
        await stack.publish();
        await page.clock.pauseAt(Date.now() + 10 * minute);
        await show("visible");
        await notice(page).getByRole("button").waitFor();
      },
      { prepare: (page) => page.clock.install() },
    );
    stack.proxy.behaviour = passOn;
  });

  test("says that it is offline and how old its list is, also after a reload, and recovers", () =>
    openPage(
      "/?region=IT",
      async ({ page, context }) => {
        await page.waitForFunction(() => navigator.serviceWorker.ready);
        await isKept(page);
        await context.setOffline(true);
        await notice(page).getByText("Offline").or(notice(page).getByText("offline")).waitFor();
        await assertAccessible(page);
        await page.reload();
        await page.locator('trendvault-list [data-id^="it-"]').first().waitFor();
        await notice(page).locator("p").waitFor();
        assert.match((await notice(page).textContent()) ?? "", /offline.*minut/i);
        await context.setOffline(false);
        await notice(page).locator("p").waitFor({ state: "detached" });
      },
      { serviceWorkers: "allow" },
    ));

  test("says that it is offline, also when an answer comes that was under way", async () => {
    const answer = Promise.withResolvers<void>();
    const prepare = async (page: Page) => {
      await page.clock.install({ time: Date.now() + 10 * minute }); // so that it asks at once whether there is a newer list
      await page.route("**/api/trending?*", async (route) => {
        const response = await route.fetch();
        await answer.promise;
        await route.fulfill({ response });
      });
    };
    const run = async ({ page, context }: OpenPage) => {
      await context.setOffline(true);
      await notice(page).getByText("offline").waitFor();
      const answered = page.waitForResponse("**/api/trending?*");
      answer.resolve();
      await (await answered).finished();
      await page.evaluate(() => new Promise((resume) => setTimeout(resume))); // it has read the answer
      assert.match((await notice(page).textContent()) ?? "", /offline/);
    };
    await openPage("/?region=IE&lang=en", run, { prepare });
  });

  test("says that it is offline, also when a list comes that was chosen before", () =>
    openPage("/?region=DK&lang=en", async ({ page }) => {
      const answer = Promise.withResolvers<void>();
      await page.route("**/api/trending?*", async (route) => {
        await answer.promise;
        await route.continue();
      });
      const asked = page.waitForRequest("**/api/trending?*");
      await page.locator("nav.windows a").first().dispatchEvent("click");
      await asked;
      await page.evaluate(() => {
        Object.defineProperty(navigator, "onLine", { value: false }); // what is under way goes on
        dispatchEvent(new Event("offline"));
      });
      await notice(page).getByText("offline").waitFor();
      answer.resolve();
      await page.waitForURL("**/?region=DK&window=now&lang=en");
      assert.match((await notice(page).textContent()) ?? "", /offline/);
    }));

  test("stays as it was when the words of another language cannot be loaded, whatever was chosen before", () =>
    openPage(
      "/?region=GB",
      async ({ page }) => {
        const select = page.locator("select[name=region]");
        const [list, words] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        await page.route("**/api/trending?*", async (route) => {
          await list.promise;
          await route.continue();
        });
        const loads = page.waitForRequest("**/api/trending?*");
        await select.selectOption("IE"); // in the language that is there
        const before = await loads;
        await page.route("**/assets/**", async (route) => {
          await words.promise;
          await route.abort();
        });
        const asked = page.waitForRequest("**/assets/**");
        await select.selectOption("PL");
        await asked;
        list.resolve();
        await (await before.response())?.finished();
        await page.evaluate(() => new Promise((resume) => setTimeout(resume))); // it has read the answer
        words.resolve();
        await notice(page).getByText("This could not be loaded.").waitFor();
        assert.equal(await select.inputValue(), "GB");
        assert.equal(new URL(page.url()).search, "?region=GB");
        assert.equal(await page.locator("trendvault-list").getAttribute("region"), "GB");
        assert.ok((await idsOf(page)).every((id) => id.startsWith("gb-")));
      },
      { errors: [/Failed to load resource/] },
    ));

  test("keeps the last whole page for offline when the next one breaks off", async () => {
    const page = "<!doctype html><title>Whole</title>";
    let isWhole = true;
    const server = createServer((request, response) => {
      if (request.url === paths.serviceWorker) {
        response.writeHead(200, { "content-type": "text/javascript" }).end(worker);
      } else {
        response.writeHead(200, { "content-type": "text/html", "content-length": page.length });
        if (isWhole) response.end(page);
        else response.write(page.slice(0, 20), () => response.destroy());
      }
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const options = { serviceWorkers: "allow", errors: [/ERR_/] } as const;
    await visit(`http://127.0.0.1:${port}`, options, async ({ page, context }) => {
      await page.goto("/");
      await page.evaluate((url) => void navigator.serviceWorker.register(url), paths.serviceWorker);
      await page.waitForFunction(() => navigator.serviceWorker.controller);
      await page.goto("/");
      await isKept(page);
      isWhole = false;
      await page.goto("/", { waitUntil: "commit" }).catch(() => {}); // it may never be loaded
      await context.setOffline(true);
      await page.goto("/");
      assert.equal(await page.title(), "Whole");
    });
    server.close();
    server.closeAllConnections();
  });

  test("keeps a shared link without what others have added to it, and shows it offline", () =>
    openPage(
      "/?region=IT&window=now&fbclid=somebody",
      async ({ page, context }) => {
        await page.waitForFunction(() => navigator.serviceWorker.ready);
        await page.reload();
        const kept = await page.waitForFunction(async () => {
          const [name = ""] = await caches.keys();
          const cache = await caches.open(name);
          const keys = await cache.keys();
          const answers = await Promise.all(keys.map((key) => cache.match(key)));
          const addresses = [...keys, ...answers].map((one) => one?.url ?? "");
          return addresses.some((url) => url.includes("/?region=IT&window=now")) && addresses.join();
        });
        assert.doesNotMatch(String(await kept.jsonValue()), /somebody/);
        await context.setOffline(true);
        await page.reload();
        await page.locator('trendvault-list [data-id^="it-"]').first().waitFor();
      },
      { serviceWorkers: "allow" },
    ));

  /** Holds the page's script until a visitor has done something. */
  const beforeScript = (act: (page: Page) => Promise<unknown>) => (page: Page) =>
    page.route(
      "**/assets/page-*.js",
      async (route) => {
        await page.locator("#foot").waitFor();
        await act(page);
        await route.continue();
      },
      { times: 1 }, // the page asks for its script again, to keep it
    );

  for (const [how, choose] of [
    ["in the picker", (page) => page.locator("select").selectOption("FR")],
    ["by its first letter", (page) => page.locator("select").press("F")], // more than one may come too slowly for one name
  ] satisfies [string, (page: Page) => Promise<unknown>][]) {
    test(`shows the country that was chosen ${how} before its script was there`, () =>
      openPage(
        "/?region=GB",
        async ({ page }) => {
          await page.waitForURL("**/?region=FR");
          await page.locator('trendvault-list [data-id^="fr-"]').first().waitFor();
          assert.equal(await page.locator("select").inputValue(), "FR");
        },
        { prepare: beforeScript(choose) },
      ));
  }

  test("goes to the country that is chosen, also when its words could not be loaded", async () => {
    const { edge } = await sharedStack();
    await visit(edge.url, { errors: [/./] }, async ({ page }) => {
      const html = await (await page.request.get("/?region=GB")).text();
      await page.route("**/assets/chunk-*", (route, request) =>
        html.includes(new URL(request.url()).pathname) ? route.continue() : route.abort(),
      );
      const failed = page.waitForEvent("requestfailed", (request) =>
        request.url().includes("/assets/chunk-"),
      );
      await page.goto("/?region=GB");
      await failed;
      await page.waitForFunction(() => history.scrollRestoration === "auto");
      await page.locator("select").selectOption("FR");
      await page.waitForURL("**/?region=FR");
    });
  });

  test("says all of what was opened before its script was there", () =>
    openPage(
      "/?region=GB",
      async ({ page }) => {
        await page.locator("trendvault-list .explanation[lang]:visible").waitFor();
        await page.locator("#share button").first().waitFor();
      },
      {
        prepare: beforeScript(async (page) => {
          await page.locator("trendvault-list summary").first().dispatchEvent("click");
          await page.locator("#share summary").dispatchEvent("click");
          await page.evaluate(() => new Promise((resume) => setTimeout(resume))); // nobody hears that they opened
        }),
      },
    ));

  test("has a grey place for a picture that failed before its script could hear of it", () =>
    openPage(
      "/?region=GB",
      async ({ page }) => {
        await page.locator("trendvault-list li").first().locator("svg.placeholder").waitFor();
      },
      {
        prepare: async (page) => {
          await page.route("**/*.webp", (route) => route.abort());
          await page.route("**/assets/page-*.js", async (route) => {
            await page.waitForFunction(() => {
              const first = document.querySelector("trendvault-list")?.shadowRoot?.querySelector("img");
              return first?.complete && first.naturalWidth === 0;
            });
            await route.continue();
          });
        },
        errors: [/ERR_FAILED/],
      },
    ));

  test("shares the address that it was opened at, where the site names none", () =>
    openPage(
      "/?region=GB",
      async ({ page }) => {
        await page.locator("#share summary").dispatchEvent("click");
        assert.equal(await page.locator("#share textarea").first().inputValue(), page.url());
        assert.equal(await page.locator("footer").count(), 1);
      },
      {
        prepare: (page) =>
          page.route("**/?region=GB", async (route) => {
            const response = await route.fetch();
            const html = (await response.text()).replace(/"public_url":"[^"]*",/, "");
            await route.fulfill({ response, body: html.replace(/<details id="share">.*?<\/details>/, "") });
          }),
        errors: [/loopback|ERR_FAILED/], // what a test sends may load no pictures of this machine
      },
    ));

  test("says so when the edge has only its fallback", () =>
    openPage("/?region=DK&lang=en", async ({ page }) => {
      await page.route("**/api/trending?*", async (route) => {
        const response = await route.fetch();
        const headers = { ...response.headers(), "cache-status": "trendvault; fwd=miss; detail=kv-fallback" };
        await route.fulfill({ response, headers });
      });
      await page.locator("nav.windows a").first().dispatchEvent("click");
      await notice(page).getByText("The site cannot reach its data").waitFor();
      await assertAccessible(page);
      const again = page.waitForResponse("**/api/trending?*");
      await page.evaluate(() => dispatchEvent(new Event("online"))); // it asks again
      await again;
      await page
        .locator("trendvault-list")
        .evaluate((list) => (list as HTMLElement & { refresh(): Promise<boolean> }).refresh());
      assert.match((await notice(page).textContent()) ?? "", /cannot reach its data/);
    }));

  test("keeps its list when another cannot be loaded, says so, and tries again", () =>
    openPage(
      "/?region=BE&lang=en",
      async ({ page }) => {
        const before = await page.locator("trendvault-list [data-id]").first().getAttribute("data-id");
        await page.route("**/api/trending?*", (route) => route.fulfill({ status: 503, body: "" }));
        await page.locator("nav.windows a").first().dispatchEvent("click");
        const retry = notice(page).getByRole("button");
        await retry.waitFor();
        assert.equal(await page.locator("trendvault-list [data-id]").first().getAttribute("data-id"), before);
        assert.equal(await page.locator("nav.windows [aria-current]").textContent(), "Next 24 hours");
        await assertAccessible(page);
        await page.unroute("**/api/trending?*");
        const asked = page.waitForRequest("**/api/trending?*");
        await page
          .locator("trendvault-list")
          .evaluate((list) => (list as HTMLElement & { refresh(): Promise<boolean> }).refresh());
        assert.doesNotMatch((await asked).url(), /window=now/); // a newer one of what is shown
        await retry.dispatchEvent("click");
        await page.waitForURL("**/?region=BE&window=now&lang=en");
        await notice(page).locator("p").waitFor({ state: "detached" });
      },
      { errors: [/503/] },
    ));

  test("shows the list that Back leads to once that can be read again", () =>
    openPage(
      "/?region=BE&lang=en",
      async ({ page }) => {
        await page.locator("nav.windows a").first().dispatchEvent("click");
        await page.waitForURL("**/?region=BE&window=now&lang=en");
        await page.route("**/api/trending?*", (route) => route.fulfill({ status: 500, body: "" }));
        await page.goBack();
        await notice(page).getByText("This could not be loaded.").waitFor();
        await page.unroute("**/api/trending?*");
        await page.evaluate(() => dispatchEvent(new Event("online")));
        await page.locator("nav.windows [aria-current]", { hasText: "Next 24 hours" }).waitFor();
        await notice(page).locator("p").waitFor({ state: "detached" });
      },
      { errors: [/500/] },
    ));
});

describe("the page, on a screen of density", () => {
  for (const [deviceScaleFactor, name] of [
    [1, "sd"],
    [2, "hq"],
  ] as const)
    test(`${deviceScaleFactor} loads the pictures for it, and no others`, () =>
      openPage(
        "/?region=GB",
        async ({ page, stack }) => {
          const first = page.locator("trendvault-list img.thumb").first();
          const isLoaded = async (image: HTMLImageElement) => image.decode().then(() => image.currentSrc);
          assert.ok((await first.evaluate(isLoaded)).endsWith(`/${name}.webp`));
          const loaded = await page.evaluate(() =>
            performance.getEntriesByType("resource").map((resource) => resource.name),
          );
          const pictures = loaded.filter((url) => new URL(url).host === stack.pictures.host);
          assert.ok(pictures.length > 0 && pictures.every((url) => url.endsWith(`/${name}.webp`)));
        },
        { deviceScaleFactor },
      ));
});

describe("the page without scripts", () => {
  const options = { javaScriptEnabled: false };
  const isThere = { waitUntil: "commit" } as const; // whether or not its pictures have come

  test("is the list, accessibly, with pickers that work and further ranks behind a link", () =>
    openPage(
      "/?region=GB",
      async ({ page }) => {
        await page.getByRole("combobox", { name: "Country" }).selectOption("SE");
        await page.getByRole("button", { name: "Show" }).dispatchEvent("click");
        await page.waitForURL("**/?region=SE", isThere);
        await page.locator("nav.windows a").first().dispatchEvent("click");
        await page.waitForURL("**/?region=SE&window=now", isThere);
        await page.locator("a[rel=next]").dispatchEvent("click");
        await page.waitForURL(/cursor=/, isThere);
        await page.locator('trendvault-list li[data-rank="48"]').waitFor(); // all have come
        assert.equal(await page.locator("trendvault-list li").count(), 24);
        await page.locator("#share summary").dispatchEvent("click");
        assert.equal(
          await page.locator("#share textarea:visible").first().inputValue(),
          "https://trending.example/?region=SE&window=now",
        );
        await page.goto("/?region=PT&duration=short&lang=en", isThere);
        for (const [region, list] of [
          ["AT", "&duration=short"],
          ["SE", ""], // which has no such list
        ] as const) {
          await page.getByRole("combobox", { name: "Country" }).selectOption(region);
          await page.getByRole("button", { name: "Show" }).dispatchEvent("click");
          await page.waitForURL(`**/?region=${region}${list}&lang=en`, isThere);
        }
      },
      options,
    ));
});

describe("the page, while the origin is gone,", () => {
  let stack: Stack;
  before(async () => {
    stack = await sharedStack();
    stack.proxy.behaviour = expired;
    await stack.edge.fetch("/?region=NL&lang=en");
    await stack.edge.fetch("/?region=AT&lang=sv");
    for (const region of ["NL", "AT"])
      await stack.edge.fetch(`/api/trending?region=${region}&fields=chart&limit=24`);
    await stack.origin.kill();
  });
  after(async () => {
    stack.proxy.behaviour = passOn;
    await stack.origin.start();
    let asked = 0;
    await until(async () => (await stack.edge.fetch(`/api/videos/none-${asked++}`)).status === 404); // of the origin again
  });

  test("is there, and says how old its list is once that is older than usual", () =>
    openPage(
      "/?region=NL&lang=en",
      async ({ page }) => {
        await notice(page).getByText("older than usual").waitFor();
        const [, minutes] = /\((\d+) minutes ago\)/.exec((await notice(page).textContent()) ?? "") ?? [];
        assert.ok(Number(minutes) >= 20, `said ${minutes}`); // and what the test itself took
        await assertAccessible(page);
      },
      { prepare: (page) => page.clock.install({ time: Date.now() + 20 * minute }) },
    ));

  test("has the region's titles in lists that were kept with no others", () => {
    const run = async ({ page }: OpenPage) => {
      const list = page.locator("trendvault-list");
      assert.match((await list.locator(".title").first().textContent()) ?? "", /^Titel \d+$/);
      const { isShown, titles } = await list.evaluate(async (element) => {
        const shown = element as HTMLElement & {
          load(): Promise<boolean>;
          list: { items: { title: string }[] };
        };
        const isShown = await shown.load();
        return { isShown, titles: shown.list.items.map(({ title }) => title) };
      });
      assert.deepEqual([isShown, titles.length], [true, 24]);
      assert.ok(!titles.some((title) => /^Titel/.test(title)));
    };
    return openPage("/?region=AT&lang=sv", run, { errors: [/503/] });
  });
});

const random = new Random();
const chosen = [
  `مرحبا بالعالم <b>x</b> ${"ا".repeat(280)}`,
  "👩‍👩‍👧‍👦🏳️‍🌈 ".repeat(40).slice(0, 300),
  "W".repeat(300),
  "<img src=x onerror=\"document.title='owned'\">",
  "</script><script>document.title='owned'</script>",
];
const titles = [...chosen, ...Array.from({ length: 14 }, () => hostileText(random))];
const links = ["https://videos.example/%3Cx%3E", "https://videos.example/?a=1&amp;b=javascript:x", null];

/** Lines whose title, channel, category and addresses are as bad as the writer lets them be. */
function hostileLines(): object[] {
  return [2, 1, 0].flatMap((ago) =>
    titles.map((title, n) => ({
      id: `hostile-${n}`,
      region: "IE",
      observed_at: new Date(Date.now() - ago * 3_600_000).toISOString().replace(/\.\d+Z$/, "Z"),
      views: 1_000_000 * (40 - n) * (4 - ago),
      title: printable(title, 300),
      channel: printable(titles[(n + 1) % titles.length] ?? "", 100),
      category: n % 2 === 0 ? "<script>alert(1)</script>" : `"'&amp;`,
      thumb_base: n % 2 === 0 ? "https://elsewhere.example/x" : "http://127.0.0.1:1/x",
      ...(links[n % links.length] === null ? {} : { url: links[n % links.length] }),
    })),
  );
}

/** What the writer takes: no control characters, none that turn the direction of what follows, and only Unicode. */
function printable(text: string, length: number): string {
  const allowed = text.toWellFormed().replace(/\p{Cc}|\p{Bidi_Control}|\p{Zl}|\p{Zp}/gu, " ");
  return Array.from(allowed).slice(0, length).join("").trim() || "a text";
}

describe(`a hostile catalogue (seed ${random.seed})`, () => {
  let stack: Stack;
  before(async () => {
    stack = await Stack.start();
    stack.database.ingest(hostileLines());
    await stack.publish();
  });
  after(() => stack.close());

  for (const [name, options] of [
    ["with scripts", {}],
    ["without scripts", { javaScriptEnabled: false }],
  ] as const) {
    test(`is text, with links and pictures only where they are allowed, ${name}`, () =>
      openPage(
        "/?region=IE",
        async ({ page }) => {
          const list = page.locator("trendvault-list");
          assert.ok((await list.locator('[data-id^="hostile-"]').count()) > 5);
          assert.equal(await page.title(), "Trending: Ireland – Kanal Eins");
          assert.equal(await list.locator("img").count(), 24 - (await list.locator(".placeholder").count()));
          const data = '[type="application/json"], [type="application/ld+json"]'; // which no browser runs
          assert.equal(await page.locator(`script:not(${data}):not([src])`).count(), 0);
          const { itemListElement: items } = JSON.parse(
            (await page.locator("#list-items").textContent()) ?? "",
          );
          assert.equal(items.length, 24);
          for (const { url } of items)
            assert.match(url ?? "https://videos.example/", /^https:\/\/videos\.example\//);
          const shown = new Set(await list.locator(".title").allTextContents());
          assert.ok(
            chosen.filter((title) => shown.has(printable(title, 300))).length > 3,
            "titles are shown as they are",
          );
          for (const href of await list
            .locator("a")
            .evaluateAll((all) => all.map((a) => (a as HTMLAnchorElement).href)))
            assert.match(href, /^https:\/\/(videos\.example|site\.example\/report)\//);
        },
        { stack, ...options },
      ));
  }

  test("is accessible, fits 320 pixels, and stays text in further pages, other categories and explanations", () =>
    openPage(
      "/?region=IE",
      async ({ page }) => {
        await page.locator("nav.categories a", { hasText: "<script>" }).dispatchEvent("click");
        await page.waitForURL("**&category=*");
        await page.getByRole("link", { name: "All categories" }).dispatchEvent("click");
        await page.waitForURL("**/?region=IE");
        await page.locator("trendvault-list summary").first().dispatchEvent("click");
        await page.locator("#more a").dispatchEvent("click");
        await page.locator('trendvault-list li[data-rank="48"]').waitFor();
        await assertAccessible(page);
        const tooWide = await page.evaluate(() => {
          const root = document.querySelector("trendvault-list")?.shadowRoot;
          return [...document.querySelectorAll("*"), ...(root?.querySelectorAll("*") ?? [])]
            .filter(
              (element) =>
                document.documentElement.scrollWidth > innerWidth && element.scrollWidth > innerWidth,
            )
            .map(
              (element) => `${element.localName}.${element.className}: ${element.textContent?.slice(0, 80)}`,
            );
        });
        assert.deepEqual(tooWide, []);
        assert.equal(await page.title(), "Trending: Ireland – Kanal Eins");
      },
      { stack, viewport: { width: 320, height: 640 } },
    ));
});
