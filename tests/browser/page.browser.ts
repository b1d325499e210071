import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { brotliCompressSync } from "node:zlib";
import { pageLanguages } from "@trendvault/contract/page";
import { regionCodes } from "@trendvault/contract/regions";
import type { Locator, Page } from "playwright-core";
import { idsOf, type OpenPage, openPage, ranksOf, upTo } from "./test-support/open-page.ts";
import { sharedStack } from "./test-support/stack.ts";
import { assertAccessible, browser, serveSite, visit } from "./test-support/visit.ts";

describe("the page", () => {
  test("shows a list with pictures, movement, sparklines and links", () =>
    openPage("/?region=GB", async ({ page }) => {
      assert.deepEqual(await ranksOf(page), upTo(24));
      const list = page.locator("trendvault-list");
      assert.equal(await list.locator("img.thumb").count(), 24);
      assert.equal(await list.locator(".sparkline").count(), 24);
      assert.equal(await list.locator('a[href^="https://videos.example/"]').count(), 24);
      assert.ok((await list.locator(".up").count()) > 0);
      assert.ok((await list.locator(".down").count()) > 0);
    }));

  test("shows the site's name, colours, imprint and where a video is reported, also after a choice", () =>
    openPage("/?region=GB", async ({ page }) => {
      const accent = () =>
        page
          .locator("trendvault-list .sparkline")
          .first()
          .evaluate((line) => getComputedStyle(line).color);
      assert.equal(await accent(), "rgb(0, 98, 155)");
      await page.getByRole("combobox", { name: "Country" }).selectOption("DE");
      await page.waitForURL("**/?region=DE");
      const list = page.locator("trendvault-list");
      await list.locator('[data-id^="de-"]').first().waitFor();
      assert.equal(await accent(), "rgb(0, 98, 155)");
      assert.equal(await page.title(), "Im Trend: Deutschland – Kanal Eins");
      assert.equal(await page.locator(".brand a").textContent(), "Kanal Eins");
      assert.deepEqual(await page.locator('#foot a[href^="https://site.example/"]').allTextContents(), [
        "Impressum",
        "Datenschutz",
      ]);
      const [id] = await idsOf(page);
      await list.locator("summary").first().click();
      const report = list.getByRole("link", { name: "Dieses Video melden" });
      assert.equal(await report.first().getAttribute("href"), `https://site.example/report/${id}`);
      await assertAccessible(page);
    }));

  test("picks another region, window and category without a reload, and goes back through them", () =>
    openPage("/?region=GB", async ({ page }) => {
      await page.evaluate(() => Object.assign(globalThis, { isSameDocument: true }));
      await page.getByRole("combobox", { name: "Country" }).selectOption("PL");
      await page.waitForURL("**/?region=PL");
      assert.match((await idsOf(page))[0] ?? "", /^pl-/);
      assert.equal(await page.locator("html").getAttribute("lang"), "pl");
      await page.locator("nav.windows a").first().dispatchEvent("click");
      await page.waitForURL("**/?region=PL&window=now");
      await page.locator("nav.categories a").nth(1).dispatchEvent("click");
      await page.waitForURL("**/?region=PL&window=now&category=*");
      assert.equal(await page.locator("nav.categories a").nth(1).getAttribute("aria-current"), "true");
      await page.goBack();
      await page.waitForURL("**/?region=PL&window=now");
      await page.goBack();
      await page.goBack();
      await page.waitForURL("**/?region=GB");
      await page.locator('trendvault-list [data-id^="gb-"]').first().waitFor();
      assert.equal(await page.getByRole("combobox").inputValue(), "GB");
      assert.ok(await page.evaluate(() => "isSameDocument" in globalThis));
    }));

  test("is again what it was at an address without a region, after Back", () =>
    openPage("/", async ({ page }) => {
      const select = page.getByRole("combobox");
      const shown = await select.inputValue();
      const other = shown === "PL" ? "GB" : "PL";
      await select.selectOption(other);
      await page.waitForURL(`**/?region=${other}`);
      await page.goBack();
      await page.locator(`trendvault-list [data-id^="${shown.toLowerCase()}-"]`).first().waitFor();
      assert.equal(await select.inputValue(), shown);
    }));

  test("picks a list by its kind where the region has one, and of another region what it has", () =>
    openPage("/?region=PT&lang=en", async ({ page }) => {
      const pick = (name: string) =>
        page.locator("nav.categories a", { hasText: name }).dispatchEvent("click");
      const chosen = page.locator("nav.categories [aria-current]");
      await pick("For children");
      await page.waitForURL("**/?region=PT&audience=kids&lang=en");
      assert.match((await idsOf(page)).join(" "), /^(pt-[345]\d ?)+$/);
      assert.equal(await chosen.textContent(), "For children");
      await page.getByRole("combobox").selectOption("AT");
      await page.waitForURL("**/?region=AT&lang=en"); // it has no such list
      await pick("Short videos");
      await page.waitForURL("**/?region=AT&duration=short&lang=en");
      await page.getByRole("combobox").selectOption("PT");
      await page.waitForURL("**/?region=PT&duration=short&lang=en");
      await page.reload();
      assert.equal(await chosen.textContent(), "Short videos");
      assert.match((await idsOf(page)).join(" "), /^(pt-[12]?\d ?)+$/);
      assert.equal(await page.title(), "Trending: Portugal · Short videos – Kanal Eins");
      await assertAccessible(page);
    }));

  test("keeps the focus where it was after a choice, and can be used on with the keyboard alone", () =>
    openPage("/?region=GB", async ({ page }) => {
      const last = page.locator("nav.windows a").last();
      await last.focus();
      await page.keyboard.press("Enter");
      await page.waitForURL("**/?region=GB&window=week");
      assert.equal(
        await page.evaluate(() => document.activeElement?.textContent),
        await page.locator("nav.windows [aria-current]").textContent(),
      );
    }));

  const deepLinks: [target: string, lang: string, current: string[]][] = [
    ["/?region=DE&window=week&category=Music&lang=en", "en", ["Next 7 days", "Music"]],
    ["/?region=PL&window=now", "pl", ["Najbliższe 6 godzin", "Wszystkie kategorie"]],
  ];
  for (const [target, lang, current] of deepLinks) {
    test(`is at ${target} what the address says`, () =>
      openPage(target, async ({ page }) => {
        assert.equal(await page.locator("html").getAttribute("lang"), lang);
        assert.deepEqual(await page.locator("nav [aria-current]:not([lang])").allTextContents(), current);
        assert.equal(new URL(page.url()).pathname + new URL(page.url()).search, target);
      }));
  }

  test("opens a video by its picture, as by its title, and nothing beside it", () =>
    openPage("/?region=GB", async ({ page }) => {
      const linkAt = (selector: string) =>
        page
          .locator(`trendvault-list ${selector}`)
          .first()
          .evaluate((element) => {
            const { left, top, width, height } = element.getBoundingClientRect();
            const root = element.getRootNode() as ShadowRoot;
            return root.elementFromPoint(left + width / 2, top + height / 2)?.closest("a")?.href ?? null;
          });
      const href = await page.locator("trendvault-list .link").first().getAttribute("href");
      assert.deepEqual(
        [await linkAt(".thumb"), await linkAt(".link"), await linkAt("summary"), await linkAt(".rank")],
        [href, href, null, null],
      );
    }));

  test("says in its language why a video is there, and how the list is made", () =>
    openPage("/?region=PL", async ({ page }) => {
      await page.locator("trendvault-list summary").first().dispatchEvent("click");
      const why = page.locator("trendvault-list .explanation[lang=pl]");
      await why.waitFor();
      assert.match(
        (await why.textContent()) ?? "",
        /^Miejsce 1 z \d+\. Najbliższe 24 godziny: oczekiwan.*\(policzono .* temu\)/s,
      );
      await assertAccessible(page);
      await page.locator(".links a").first().click();
      const shown = page.locator("article:visible");
      assert.deepEqual(await shown.evaluateAll((all) => all.map((one) => one.getAttribute("lang"))), ["pl"]);
      await page.locator("nav.languages a[lang=fr]").click();
      assert.deepEqual(await shown.evaluateAll((all) => all.map((one) => one.getAttribute("lang"))), ["fr"]);
    }));

  test("has titles in its language on every page of a list, and in no other", () =>
    openPage("/?region=AT", async ({ page }) => {
      const titles = page.locator("trendvault-list .title");
      const isSwedish = async () =>
        (await titles.allTextContents()).map((title) => /^Titel \d+$/.test(title));
      assert.ok(!(await isSwedish()).includes(true));
      await page.locator("nav.languages a[lang=sv]").click();
      await page.locator("html[lang=sv]").waitFor();
      await titles
        .filter({ hasText: /^Titel/ })
        .first()
        .waitFor();
      await page.locator("#more a").dispatchEvent("click");
      await page.locator('trendvault-list li[data-rank="48"]').waitFor();
      assert.ok(!(await isSwedish()).includes(false));
      await page.locator("nav.languages a[lang=de]").click();
      await page.locator("html[lang=de]").waitFor();
      assert.ok(!(await isSwedish()).includes(true));
    }));

  test("adds to a list no ranks of the one before, whenever it was near its end", () =>
    openPage("/?region=GB", async ({ page }) => {
      const list = Promise.withResolvers<void>();
      const next = Promise.withResolvers<void>();
      await page.route("**/api/trending?*", async (route) => {
        await (route.request().url().includes("cursor=") ? next : list).promise;
        await route.continue();
      });
      const asked = (what: string) => page.waitForRequest((request) => request.url().includes(what));
      const loads = asked("region=FR");
      await page.locator("select[name=region]").selectOption("FR");
      await loads;
      const goesOn = asked("cursor=");
      await page.locator("#more a").dispatchEvent("click");
      const isOn = await goesOn;
      list.resolve();
      await page.waitForURL("**/?region=FR");
      next.resolve();
      await (await isOn.response())?.finished();
      await page.locator("#more a").dispatchEvent("click");
      await page.locator('trendvault-list li[data-rank="48"]').waitFor();
      assert.deepEqual(await ranksOf(page), upTo(48));
      assert.ok((await idsOf(page)).every((id) => id.startsWith("fr-")));
    }));

  test("is in a language of the site's own, with scripts, too, and with English words for those that it lacks", () =>
    openPage("/?region=PL&lang=en", async ({ page }) => {
      const heading = async () => (await page.locator("h1").textContent()) ?? "";
      await page.locator("nav.languages a[lang=he]").click();
      await page.locator("html[lang=he][dir=rtl] #as-of time").filter({ hasText: "לפני" }).waitFor();
      assert.match(await heading(), /^סרטונים חמים/);
      await assertAccessible(page);
      assert.ok(await endsAtTheRight(page.locator("#foot p", { hasText: /^This page .*\.$/ })));
      await page.evaluate(() => Object.assign(globalThis, { isSame: true }));
      await page.locator("nav.windows a").first().click();
      await page.locator('nav.windows a[aria-current="true"]').first().waitFor();
      await page.waitForURL(/window=now&lang=he/);
      assert.match(await heading(), /^סרטונים חמים/);
      await page.locator("trendvault-list summary").first().dispatchEvent("click");
      const why = page.locator("trendvault-list .explanation[lang=he]");
      await why.filter({ hasText: /^Place 1 of \d+\..*: [\d,]+ צפיות/ }).waitFor();
      assert.ok(await endsAtTheRight(why.locator("p", { hasText: /^[\d,]+ views so far.*\.$/ })));
      await page.locator("nav.languages a[lang=de]").click();
      await page.locator("html[lang=de][dir=ltr]").waitFor();
      await page.goBack();
      await page.locator("html[lang=he][dir=rtl]").waitFor();
      assert.equal(await page.evaluate(() => "isSame" in globalThis), true); // without a reload
      assert.match(await heading(), /^סרטונים חמים/);
    }));

  test("gives its link and a frame of its list to copy, by keyboard, and fits a narrow screen with large letters", () =>
    openPage(
      "/?region=PT&window=now&duration=short&lang=en",
      async ({ page }) => {
        await page.locator("#share summary").focus();
        await page.keyboard.press("Enter");
        const buttons = page.locator("#share").getByRole("button", { name: "Copy" });
        await buttons.nth(1).waitFor();
        const copied: string[] = [];
        for (const _ of ["link", "frame"]) {
          await buttons.first().focus();
          await page.keyboard.press("Enter");
          await page.locator("#share button", { hasText: "Copied" }).nth(copied.length).waitFor();
          copied.push(await page.evaluate(() => navigator.clipboard.readText()));
        }
        const list = "region=PT&window=now&duration=short&lang=en";
        const frame = `<iframe src="https://trending.example/embed?${list.replaceAll("&", "&amp;")}"`;
        assert.equal(copied[0], `https://trending.example/?${list}`);
        assert.ok(copied[1]?.startsWith(`${frame} title="Trending: Portugal · Short videos – Kanal Eins"`));
        const mail = await page.locator('#share a[href^="mailto:?"]').getAttribute("href");
        assert.equal(new URL(mail ?? "").searchParams.get("body"), copied[0]);
        await assertAccessible(page);
        await page.evaluate(() => {
          document.documentElement.style.fontSize = "200%";
        });
        assert.equal(await hiddenAtTheSide(page), 0);
      },
      { permissions: ["clipboard-read", "clipboard-write"], viewport: { width: 320, height: 640 } },
    ));

  test("selects what it may not copy, and shares as the device does where that can", () => {
    const shared: unknown[] = [];
    const prepare = async (page: Page) => {
      await page.exposeFunction("noteShared", (data: unknown) => shared.push(data));
      await page.addInitScript(() => {
        const { noteShared } = globalThis as unknown as { noteShared(data: unknown): Promise<void> };
        Object.assign(Navigator.prototype, { share: noteShared });
        navigator.clipboard.writeText = () => Promise.reject(new Error("It is not allowed"));
      });
    };
    return openPage(
      "/?region=GB",
      async ({ page }) => {
        await page.locator("#share summary").dispatchEvent("click");
        await page.getByRole("button", { name: "Copy" }).first().dispatchEvent("click");
        const url = "https://trending.example/?region=GB";
        await page.waitForFunction((url) => getSelection()?.toString() === url, url);
        assert.equal(await page.locator("#share a").count(), 0);
        await page.getByRole("button", { name: "Share" }).dispatchEvent("click");
        await page.waitForFunction(() => document.getElementById("share")); // what the click calls has been called
        assert.deepEqual(shared, [{ title: "Trending: United Kingdom – Kanal Eins", url }]);
      },
      { prepare },
    );
  });

  test("stores nothing that names anybody, and sends no cookie", () =>
    openPage(
      "/?region=GB",
      async ({ page, context }) => {
        await page.waitForFunction(() => navigator.serviceWorker.ready);
        await page.reload();
        assert.deepEqual(await context.cookies(), []);
        const stored = await page.evaluate(async () => ({
          local: localStorage.length,
          session: sessionStorage.length,
          databases: (await indexedDB.databases()).length,
          urls: (
            await Promise.all((await caches.keys()).map(async (name) => (await caches.open(name)).keys()))
          )
            .flat()
            .map(({ url }) => new URL(url).pathname),
        }));
        assert.deepEqual({ ...stored, urls: [] }, { local: 0, session: 0, databases: 0, urls: [] });
        assert.ok(
          stored.urls.every((path) => path === "/" || path.startsWith("/assets/")),
          String(stored.urls),
        );
      },
      { serviceWorkers: "allow" },
    ));
});

/** Whether the last character of a text is at the right of the one before it. */
const endsAtTheRight = (text: Locator) =>
  text.evaluate((element) => {
    const { lastChild: node } = element;
    const [before, last] = [2, 1].map((fromEnd) => {
      const at = (node?.textContent?.length ?? 0) - fromEnd;
      const range = document.createRange();
      range.setStart(node ?? element, at);
      range.setEnd(node ?? element, at + 1);
      return range.getBoundingClientRect().left;
    });
    return (last ?? 0) > (before ?? 0);
  });

describe("the page, after Back,", () => {
  const topOf = (page: Page, rank: number) =>
    page
      .locator(`trendvault-list li[data-rank="${rank}"]`)
      .evaluate((item) => item.getBoundingClientRect().top);
  /** It is there and stays there: each call is a frame. */
  const isAt = (page: Page, rank: number, top: number) =>
    page.waitForFunction(
      ([rank, top]) => {
        const seen = globalThis as { framesThere?: number };
        const list = document.querySelector("trendvault-list")?.shadowRoot;
        const at = list?.querySelector(`li[data-rank="${rank}"]`)?.getBoundingClientRect().top;
        const isThere = at !== undefined && Math.abs(at - top) <= 50;
        seen.framesThere = isThere ? (seen.framesThere ?? 0) + 1 : 0;
        return seen.framesThere > 10;
      },
      [rank, top] as const,
    );

  /** Opens a page with all 60 ranks, scrolled to rank 40. */
  const openAt40 = (run: (page: Page, top: number) => Promise<void>) =>
    openPage(
      "/?region=GB",
      async ({ page }) => {
        for (const last of [48, 60]) {
          await page.locator("#more a").dispatchEvent("click");
          await page.locator(`trendvault-list li[data-rank="${last}"]`).waitFor();
        }
        await page.locator('trendvault-list li[data-rank="40"]').evaluate((item) => item.scrollIntoView());
        await run(page, await topOf(page, 40));
      },
      { hosts: ["videos.example"], viewport: { width: 390, height: 844 } },
    );

  test("from a video is where it was", () =>
    openAt40(async (page, top) => {
      await page.route("https://videos.example/**", (route) =>
        route.fulfill({ contentType: "text/html", body: "<!doctype html><title>A video</title>" }),
      );
      await page.locator('trendvault-list li[data-rank="41"] .title a').dispatchEvent("click");
      await page.waitForURL("https://videos.example/**");
      await page.goBack();
      await isAt(page, 40, top);
    }));

  test("from another window is where it was, and where it was there after Forward", () =>
    openAt40(async (page, top) => {
      await page.locator("nav.windows a").first().dispatchEvent("click");
      await page.waitForURL("**/?region=GB&window=now");
      assert.equal(await page.evaluate(() => scrollY), 0);
      await page.goBack();
      await isAt(page, 40, top);
      await page.goForward();
      await page.waitForURL("**/?region=GB&window=now");
      await page.waitForFunction(() => scrollY === 0);
    }));

  test("is where it was when another window was still loading", () =>
    openAt40(async (page, top) => {
      await page.locator("nav.windows a").first().dispatchEvent("click");
      await page.waitForURL("**/?region=GB&window=now");
      const list = Promise.withResolvers<void>();
      await page.route("**/api/trending?*window=week*", async (route) => {
        await list.promise;
        await route.continue().catch(() => {}); // the page waits for it no more
      });
      const loads = page.waitForRequest("**/api/trending?*window=week*");
      await page.locator("nav.windows a").last().dispatchEvent("click");
      await loads;
      await page.goBack();
      await isAt(page, 40, top);
      list.resolve();
      assert.equal(new URL(page.url()).search, "?region=GB");
      assert.equal(await page.locator("nav.windows [aria-current]").textContent(), "Next 24 hours");
    }));
});

const clientReadme = join(import.meta.dirname, "../../web/client/README.md");

describe("another site, with the two tags of the client's README,", () => {
  for (const width of [390, 1280]) {
    test(`shows the list of PL, with pictures, and moves nothing at ${width} pixels`, async (context) => {
      const { edge, pictures } = await sharedStack();
      const [, example = ""] = /```html\n([\s\S]*?)```/.exec(readFileSync(clientReadme, "utf8")) ?? [];
      const tags = example.replace("https://trending.example.com", edge.url);
      const body = `<!doctype html><html lang="en"><meta charset="utf-8"><title>A partner</title>
<meta name="viewport" content="width=device-width"><h1>A partner</h1>${tags}${'<p class="after">What follows</p>'.repeat(40)}`;
      const partner = await serveSite("partner", { "/": { body } });
      const hosts = [new URL(edge.url).host, pictures.host];
      await visit(partner.url, { hosts, viewport: { width, height: 844 } }, async ({ page }) => {
        await watchPaints(page);
        // What follows is on screen before the script is there.
        await page.route("**/trendvault-list.js", async (route) => {
          await page.locator(".after").last().waitFor();
          await page.evaluate(() => new Promise((resume) => requestAnimationFrame(resume)));
          await route.continue();
        });
        await page.goto("/");
        await page.locator('trendvault-list li[data-rank="10"]').waitFor();
        assert.match((await idsOf(page)).join(" "), /^(pl-\d+ ?){10}$/);
        assert.equal(await page.locator("trendvault-list img.thumb").count(), 10);
        await page.screenshot({ path: join(screenshots, `element-${width}.png`), fullPage: true });
        const { shift, moved } = await seenBy(page);
        context.diagnostic(`layout shift ${shift.toFixed(4)}`);
        assert.ok(shift < 0.1, `moved by ${shift}: ${moved}`);
      });
      await partner.stop();
    });
  }
});

/** What has the focus, also in a shadow tree: its tag and what it is called. */
const focused = (page: Page) =>
  page.evaluate(() => {
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    return `${element?.localName} ${element?.getAttribute("href") ?? element?.textContent?.trim().slice(0, 20) ?? ""}`;
  });

/** Lets no pause pass but those that a test lets pass. */
async function stopClock(page: Page, start = Date.now()): Promise<void> {
  await page.clock.install({ time: start - 3_600_000 });
  await page.clock.pauseAt(start); // installed, it goes on as the machine's does; long enough to get there
}

/** Stops the clock when the list was made: however long the tests before took, the page does not ask for a newer one. */
async function whenListIsNew(page: Page): Promise<void> {
  const { edge } = await sharedStack();
  const html = await (await fetch(`${edge.url}/?region=GB`)).text(); // which may be older than the origin's
  const [, madeAt = ""] = /<time datetime="([^"]+)"/.exec(html) ?? [];
  await stopClock(page, Date.parse(madeAt));
}

describe("the page, by keyboard and screen reader,", () => {
  test("leads from the pickers to the list in reading order, and every stop is seen", () =>
    openPage("/?region=GB", async ({ page }) => {
      const stops: string[] = [];
      for (let stop = 0; stop < 17; stop++) {
        await page.keyboard.press("Tab");
        stops.push((await focused(page)).split(" ")[0] ?? "");
        const outline = await page.evaluate(() => {
          let element = document.activeElement;
          while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
          return element === null ? "none" : getComputedStyle(element).outlineStyle;
        });
        assert.notEqual(outline, "none", await focused(page));
      }
      const pickers = ["a", "a", "select", ...Array<string>(3).fill("a"), ...Array<string>(7).fill("a")];
      assert.deepEqual(stops, [...pickers, "a", "summary", "a", "summary"]);
    }));

  test("asks for no region while one is being chosen, and for one when the choice is over", () => {
    const choose = async ({ page }: OpenPage) => {
      const asked: string[] = [];
      page.on("request", (request) => {
        const region = new URL(request.url()).searchParams.get("region");
        if (region !== null && region !== "GB") asked.push(region); // GB's own list may be asked for again
      });
      const select = page.locator("select[name=region]");
      const chosen: string[] = [];
      const ends = [
        () => page.clock.runFor(1000),
        () => page.keyboard.press("Enter"),
        () => page.keyboard.press("Tab"),
      ];
      for (const end of ends) {
        await select.focus();
        for (const _ of "123") await page.keyboard.press("ArrowUp");
        assert.deepEqual(asked, chosen);
        chosen.push(await select.inputValue());
        await end();
        await page.waitForURL(`**/?region=${chosen.at(-1)}`);
      }
      assert.deepEqual(asked, chosen);
      assert.equal(new Set(["GB", ...chosen]).size, 4);
    };
    return openPage("/?region=GB", choose, { prepare: stopClock });
  });

  test("keeps the region that is chosen while another one loads", () => {
    const choose = async ({ page }: OpenPage) => {
      const select = page.locator("select[name=region]");
      const list = Promise.withResolvers<void>();
      // As in browsers that say nothing of a control that is taken away while it has the focus.
      await page.evaluate(() =>
        addEventListener("focusout", (event) => event.stopImmediatePropagation(), true),
      );
      await page.route("**/api/trending?*", async (route) => {
        await list.promise;
        await route.continue();
      });
      await select.focus();
      await page.keyboard.press("ArrowUp");
      const loads = page.waitForRequest("**/api/trending?*");
      await page.keyboard.press("Enter");
      await loads;
      await page.keyboard.press("ArrowUp");
      const chosen = await select.inputValue();
      list.resolve();
      await page.waitForURL(`**/?region=${chosen}`);
      assert.equal(await select.inputValue(), chosen);
    };
    return openPage("/?region=GB", choose, { prepare: stopClock });
  });

  test("stays as it was when neither of two regions can be read", () => {
    const errors = [/Failed to load resource/];
    const choose = async ({ page }: OpenPage) => {
      const select = page.locator("select[name=region]");
      const failure = Promise.withResolvers<void>();
      await page.route("**/api/trending?*", async (route) => {
        await failure.promise;
        await route.abort();
      });
      const title = await page.title();
      await select.focus();
      for (const _ of "12") {
        const loads = page.waitForRequest("**/api/trending?*");
        await page.keyboard.press("ArrowUp");
        await loads; // after a pause
      }
      failure.resolve();
      await page.locator("#notice p", { hasText: "This could not be " }).waitFor(); // in the language of the page
      await page.waitForFunction(() => document.querySelector("select")?.value === "GB");
      assert.equal(await page.locator("trendvault-list").getAttribute("region"), "GB");
      assert.equal(await page.title(), title);
    };
    return openPage("/?region=GB", choose, { errors });
  });

  test("has a link over the pickers, to the list", () =>
    openPage(
      "/?region=GB",
      async ({ page }) => {
        const asked: string[] = [];
        page.on("request", (request) => asked.push(request.url()));
        await page.keyboard.press("Tab");
        assert.equal(await focused(page), "a #list");
        await page.keyboard.press("Enter");
        await page.waitForURL(/#list$/);
        // Following the fragment takes the focus from the link, a moment after the address has changed.
        await page.waitForFunction(() => document.activeElement === document.body);
        await page.keyboard.press("Tab");
        await page.waitForFunction(() => document.activeElement !== document.body); // a moment after the key, too
        assert.match(await focused(page), /^a https:\/\/videos\.example\//);
        assert.ok(
          !asked.some((url) => /\/api\/trending\?(?!.*cursor=)/.test(url)),
          "the link within the page loaded its list again",
        );
      },
      { prepare: whenListIsNew },
    ));

  test("is read as banner, two named navigations, a list of headings with their movement, and a foot", () =>
    openPage("/?region=GB", async ({ page }) => {
      const read = await page.locator("body").ariaSnapshot();
      assert.match(read, /^- banner:\n/);
      assert.match(read, /- navigation "Hours or days ahead":/);
      assert.match(read, /- navigation "Category":/);
      assert.match(read, /- main:[\s\S]*- list:[\s\S]*- listitem:[\s\S]*- heading "[^"]+" \[level=2\]/);
      assert.match(read, /(up|down) \d+/);
      assert.match(read, /- img "Views in each of the last 24 hours"/);
      assert.match(read, /- contentinfo:/);
    }));

  test("moves nothing for visitors who want no motion", () =>
    openPage(
      "/?region=GB",
      async ({ page, context }) => {
        await context.setOffline(true);
        await page.locator("#notice p").waitFor();
        assert.equal(await page.evaluate(() => document.getAnimations().length), 0);
      },
      { reducedMotion: "reduce" },
    ));
});

const screenshots = join(import.meta.dirname, "screenshots");
mkdirSync(screenshots, { recursive: true });

const sizes = [
  { width: 320, height: 640 },
  { width: 390, height: 844 },
  { width: 1280, height: 900 },
  { width: 2560, height: 1440 },
];

const targets = [
  { name: "page", target: "/?region=GB" },
  { name: "about", target: "/about" },
];

describe("the look of", () => {
  for (const { name, target } of targets) {
    for (const viewport of sizes) {
      for (const colorScheme of ["light", "dark"] as const) {
        test(`the ${name} is accessible, and fits ${viewport.width} pixels, ${colorScheme}`, () =>
          openPage(
            target,
            async ({ page }) => {
              await assertAccessible(page);
              assert.equal(await hiddenAtTheSide(page), 0);
              const path = join(screenshots, `${name}-${viewport.width}-${colorScheme}.png`);
              await page.screenshot({ path });
            },
            { viewport, colorScheme },
          ));
      }
    }
  }

  for (const width of [390, 1280]) {
    test(`the page is mirrored where its language is written from right to left, ${width} pixels`, () =>
      openPage(
        "/?region=GB&lang=ar",
        async ({ page }) => {
          await page.locator("trendvault-list summary").first().dispatchEvent("click");
          await page.locator("trendvault-list .explanation[lang=ar]").waitFor();
          await assertAccessible(page);
          assert.equal(await hiddenAtTheSide(page), 0);
          const rightOf = async (selector: string) => {
            const box = await page.locator(`trendvault-list li:first-child ${selector}`).boundingBox();
            return box === null ? 0 : box.x + box.width;
          };
          const order = [await rightOf(".rank"), await rightOf(".thumb"), await rightOf(".channel")];
          assert.deepEqual(
            order,
            order.toSorted((one, other) => other - one),
          );
          const heading = await page.locator("h1").boundingBox();
          assert.ok(heading !== null && heading.x + heading.width > width * 0.8);
          // An English title begins where the Arabic words around it do.
          const alignment = page.locator("trendvault-list .title").first();
          assert.equal(await alignment.evaluate((title) => getComputedStyle(title).textAlign), "right");
          await page.screenshot({ path: join(screenshots, `page-ar-${width}.png`) });
          await page.locator("nav.languages a[lang=de]").click();
          await page.locator("html[lang=de][dir=ltr]").waitFor();
          assert.ok((await rightOf(".rank")) < (await rightOf(".thumb")));
        },
        { viewport: { width, height: 900 } },
      ));
  }

  for (const width of [320, 390, 768]) {
    test(`the page and /about fit ${width} pixels with letters twice as large, and titles can be read`, () =>
      openPage(
        "/?region=GB&lang=fr",
        async ({ page }) => {
          await page.evaluate(() => {
            document.documentElement.style.fontSize = "200%";
          });
          assert.equal(await hiddenAtTheSide(page), 0);
          const wide = await page.locator(".where").evaluate(
            (place, [languages, regions]) =>
              languages.flatMap((language) => {
                const names = new Intl.DisplayNames(language, { type: "region" });
                return regions.filter((region) => {
                  place.textContent = names.of(region) ?? "";
                  return place.getBoundingClientRect().right > innerWidth;
                });
              }),
            [pageLanguages, regionCodes] as const,
          );
          assert.deepEqual(wide, []);
          const widths = await page
            .locator("trendvault-list .title")
            .evaluateAll((titles) => titles.map((title) => (title as HTMLElement).offsetWidth));
          assert.ok(Math.min(...widths) >= Math.min(width, 390) * 0.7, `${Math.min(...widths)} pixels`);
          await page.goto("/about");
          for (const language of pageLanguages) {
            const hidden = await page.evaluate((language) => {
              location.hash = language;
              document.documentElement.style.fontSize = "200%";
              return document.documentElement.scrollWidth - document.documentElement.clientWidth;
            }, language);
            assert.equal(hidden, 0, `/about in ${language}`);
          }
        },
        { viewport: { width, height: 640 } },
      ));
  }

  test("what is chosen can be read while the pointer is on it", () =>
    openPage("/?region=GB", async ({ page }) => {
      for (const name of ["windows", "categories"]) {
        const chosen = page.locator(`nav.${name} [aria-current]`);
        await chosen.hover();
        const [text, ground] = await chosen.evaluate((link) => {
          const { backgroundColor, color } = getComputedStyle(link);
          return [color, backgroundColor];
        });
        assert.notEqual(text, ground, name);
      }
    }));

  test("the page shows with forced colours what is chosen, and has links in its foot that can be hit", () =>
    openPage(
      "/?region=GB",
      async ({ page }) => {
        for (const name of ["windows", "categories"]) {
          const colours = await page
            .locator(`nav.${name} a`)
            .evaluateAll((links) =>
              links.map((link) => [link.ariaCurrent, getComputedStyle(link).backgroundColor].join()),
            );
          const chosen = colours.find((colour) => colour.startsWith("true"))?.slice("true".length);
          assert.ok(
            !colours.some((colour) => !colour.startsWith("true") && colour === chosen),
            String(colours),
          );
        }
        const heights = await page
          .locator("#foot a")
          .evaluateAll((links) => links.map((link) => link.getBoundingClientRect().height));
        assert.ok(Math.min(...heights) >= 24, String(heights));
      },
      { viewport: { width: 390, height: 844 }, forcedColors: "active" },
    ));
});

/** How many pixels of the page can only be seen by scrolling sideways. */
function hiddenAtTheSide(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

type Shift = PerformanceEntry & { value: number; hadRecentInput: boolean; sources: { node: Node | null }[] };
/** `asked`: from and to when a visitor waited for what moves things; in milliseconds, as all times. */
type Seen = {
  shifts: { at: number; value: number; moved: string[] }[];
  asked: [number, number][];
  largestPaint: number;
};

/** Notes how far things moved without being asked to, and when the largest one was painted. */
const watchPaints = (page: Page) =>
  page.addInitScript(() => {
    const seen: Seen = { shifts: [], asked: [], largestPaint: 0 };
    Object.assign(globalThis, { seen });
    new PerformanceObserver((list) => {
      for (const { startTime: at, value, hadRecentInput, sources } of list.getEntries() as Shift[]) {
        if (hadRecentInput) continue;
        const moved = sources.map(({ node }) => (node as Element | null)?.className ?? "text");
        seen.shifts.push({ at, value, moved });
      }
    }).observe({ type: "layout-shift", buffered: true });
    new PerformanceObserver((list) => {
      for (const { startTime } of list.getEntries()) seen.largestPaint = startTime;
    }).observe({ type: "largest-contentful-paint", buffered: true });
  });

async function seenBy(page: Page): Promise<{ shift: number; moved: string[]; largestPaint: number }> {
  const { shifts, asked, largestPaint } = await page.evaluate(
    () => (globalThis as unknown as { seen: Seen }).seen,
  );
  const byThemselves = shifts.filter(({ at }) => !asked.some(([from, to]) => from <= at && at <= to));
  return {
    shift: byThemselves.reduce((sum, { value }) => sum + value, 0),
    moved: byThemselves.flatMap(({ moved }) => moved),
    largestPaint,
  };
}

/** Follows the link to the next ranks. They may come later after the click than what browsers take for its effect. */
async function showMore(page: Page): Promise<void> {
  const from = await page.evaluate(() => performance.now());
  await page.locator("#more a").click();
  await page.locator("#more.loading").waitFor({ state: "detached" });
  await painted(page);
  await page.evaluate(
    (from) => (globalThis as unknown as { seen: Seen }).seen.asked.push([from, performance.now()]),
    from,
  );
}

/** Resolves when what was changed has been laid out. */
const painted = (page: Page) =>
  page.evaluate(() => new Promise((resume) => requestAnimationFrame(() => requestAnimationFrame(resume))));

/** Scrolls fast and follows each link to the next ranks, up to the end of the list. Returns how many there were. */
async function readToTheEnd(page: Page): Promise<number> {
  for (let clicks = 0; ; ) {
    await page.mouse.wheel(0, 5000);
    await page.evaluate(() => new Promise((resume) => requestAnimationFrame(resume)));
    const isReached = await page.evaluate(() => {
      const more = document.querySelector("#more");
      if (more === null) return undefined;
      return more.getBoundingClientRect().top < innerHeight && !more.classList.contains("loading");
    });
    if (isReached === undefined) return clicks;
    if (!isReached) continue;
    await page.locator("#foot a").first().waitFor(); // it can be reached
    await showMore(page);
    clicks++;
  }
}

type Traced = { name: string; args: { beginData?: { totalObjects: number }; elementCount?: number } };

/** What Chromium goes through to lay out and to style what an action changes: the most of it at once, on any machine. */
async function costOf(page: Page, act: () => Promise<void>): Promise<{ objects: number; elements: number }> {
  const traced = await browser();
  await traced.startTracing(page, { categories: ["devtools.timeline"] });
  await act();
  await painted(page);
  const { traceEvents } = JSON.parse(String(await traced.stopTracing())) as { traceEvents: Traced[] };
  const most = (event: string, count: (args: Traced["args"]) => number | undefined) =>
    Math.max(0, ...traceEvents.map(({ name, args }) => (name === event && count(args)) || 0));
  return {
    objects: most("Layout", ({ beginData }) => beginData?.totalObjects),
    elements: most("UpdateLayoutTree", ({ elementCount }) => elementCount),
  };
}

describe("the page's speed", () => {
  for (const width of [390, 1280]) {
    test(`of 500 ranks none moves by itself, however fast they are scrolled, or is laid out for another, at ${width} pixels`, (context) =>
      openPage(
        "/?region=GB",
        async ({ page, stack }) => {
          const response = await stack.edge.fetch("/api/trending?region=GB&fields=chart&limit=24");
          const list = (await response.json()) as { items: object[] };
          await page.route("**/api/trending?*cursor=*", async (route) => {
            const after = Number(/cursor=\d+-(\d+)/.exec(route.request().url())?.[1]);
            const items = list.items
              .map((item, n) => ({ ...item, rank: after + n + 1 }))
              .slice(0, 500 - after);
            const end = after + items.length;
            const next = end === 500 ? null : `/api/trending?region=GB&cursor=1-${end}`;
            await route.fulfill({ json: { ...list, items, next } });
          });
          const clicks = await readToTheEnd(page);
          assert.equal((await ranksOf(page)).length, 500);
          await page.locator("#foot").scrollIntoViewIfNeeded();
          await page.evaluate(() => scrollTo(0, 0));
          await page.waitForFunction(() => {
            const list = document.querySelector("trendvault-list")?.shadowRoot;
            const last = list?.querySelector('li[data-rank="500"] summary');
            return last?.checkVisibility({ contentVisibilityAuto: true }) === false; // it is not laid out
          });
          const { shift, moved, largestPaint } = await seenBy(page);
          context.diagnostic(
            `${width} pixels: layout shift ${shift.toFixed(4)}, ${clicks} clicks, largest paint after ${largestPaint.toFixed()} ms`,
          );
          assert.ok(shift < 0.1, `moved by ${shift}: ${moved}`);
          const perRank = await page
            .locator("trendvault-list")
            .evaluate((list) => (list.shadowRoot?.querySelectorAll("li *").length ?? 0) / 500);
          const { objects, elements } = await costOf(page, async () => {
            await page.locator("trendvault-list summary").first().dispatchEvent("click");
            await page.locator("trendvault-list .explanation[lang]").first().waitFor();
          });
          context.diagnostic(
            `${perRank} elements a rank; "Why here?": ${objects} laid out, ${elements} styled`,
          );
          assert.ok(perRank < 30, `${perRank} elements a rank`);
          assert.ok(objects > 0 && objects < 5000, `${objects} of about 20,000 objects were laid out`);
          assert.ok(elements < 500, `${elements} elements were styled`);
        },
        { viewport: { width, height: 844 }, prepare: watchPaints },
      ));
  }

  test("its scripts and styles are at most 26 KB, compressed as Cloudflare does, and the list is in the HTML", (context) => {
    const bodies: { path: string; type: string; bytes: number }[] = [];
    return openPage(
      "/?region=GB",
      async ({ page }) => {
        await page.waitForLoadState("networkidle");
        const total = (types: readonly string[]) =>
          bodies.filter(({ type }) => types.includes(type)).reduce((sum, { bytes }) => sum + bytes, 0);
        const code = total(["script", "stylesheet"]);
        context.diagnostic(
          `HTML ${total(["document"])}, scripts ${total(["script"])}, styles ${total(["stylesheet"])} bytes`,
        );
        assert.ok(code <= 26_000, `${code} bytes: ${JSON.stringify(bodies)}`);
        assert.ok(!bodies.some(({ path }) => path === "/api/trending"), "it asked for its list");
      },
      {
        prepare: async (page) => {
          await whenListIsNew(page);
          page.on("response", async (response) => {
            const { pathname } = new URL(response.url());
            const body = await response.body().catch(() => Buffer.from(""));
            const bytes = brotliCompressSync(body, { params: { 1: 4 } }).length; // BROTLI_PARAM_QUALITY
            bodies.push({ path: pathname, type: response.request().resourceType(), bytes });
          });
        },
      },
    );
  });
});
