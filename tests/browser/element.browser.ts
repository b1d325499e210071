import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, before, describe, test } from "node:test";
import { until } from "@trendvault/kit/machine";
import type { Page, Request, Route } from "playwright-core";
import { sharedStack } from "./test-support/stack.ts";
import { assertAccessible, type Site, serveSite, type VisitOptions, visit } from "./test-support/visit.ts";

/** Where the pages of these tests find their element and its lists; nothing listens there. */
const scriptedAddress = "https://scripted.example";

const assets = join(import.meta.dirname, "../../web/page/dist/public/assets");
const cors = { "access-control-allow-origin": "*", "access-control-expose-headers": "Retry-After" };

type Answer = { status?: number; headers?: Record<string, string>; body: object | string };
type Answered = Answer | "nothing" | null;

/** An edge that answers what a test wants: `list` is the answer of /api/trending, by its query. */
class ScriptedEdge {
  /** Replace it to change what is answered. */
  list: (query: URLSearchParams) => Answered | Promise<Answered> = () => ({ body: listOf() });
  /** What scripts wait for. */
  assets = Promise.resolve();
  /** The queries of the lists that were asked for. */
  readonly asked: string[] = [];
  /** How many of them have their answer. */
  answered = 0;
  /** What was sent to /api/views. */
  readonly told: { token: string; seen: number; opened: number[] }[] = [];

  /** Answers a page's requests, and gives it a document with this markup. */
  async serve(page: Page, markup: string): Promise<void> {
    const script = `<script type="module" src="${scriptedAddress}/assets/trendvault-list.js"></script>`;
    await page.route("http://partner.localhost/", (route) =>
      route.fulfill({
        contentType: "text/html",
        body: `<!doctype html><title>A partner</title>${script}${markup}`,
      }),
    );
    await page.route(`${scriptedAddress}/**`, (route, request) => this.#answer(route, request));
    await page.goto("http://partner.localhost/");
  }

  async #answer(route: Route, request: Request): Promise<void> {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname === "/api/about") return route.fulfill({ headers: cors, json: { thumb_hosts: [] } });
    if (pathname.startsWith("/assets/")) {
      await this.assets;
      const body = readFileSync(join(assets, pathname.slice("/assets/".length)));
      return route.fulfill({ contentType: "text/javascript", headers: cors, body });
    }
    if (pathname === "/api/views") {
      this.told.push(JSON.parse(request.postData() ?? ""));
      return route.fulfill({ status: 204, headers: cors });
    }
    if (pathname.endsWith("/explain")) {
      const sentences = [`Why ${pathname.split("/")[3]} is there in ${searchParams.get("region")}.`];
      return route.fulfill({ headers: cors, json: { sentences } });
    }
    if (pathname !== "/api/trending") return route.fulfill({ status: 404, headers: cors });
    this.asked.push(searchParams.toString());
    const answer = await this.list(searchParams);
    if (answer === "nothing") return; // for ever
    if (answer === null) await route.abort();
    else {
      const { status = 200, headers = {}, body } = answer;
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const type = { "content-type": "application/json" };
      await route.fulfill({ status, headers: { ...type, ...cors, ...headers }, body: text });
    }
    this.answered++;
  }
}

type ListOptions = { generation?: number; offset?: number; count?: number; total?: number; made?: number };

/** A page of a list of DE, as the API answers with fields=chart. `made` is Unix time in milliseconds. */
function listOf({ generation = 1, offset = 0, count = 3, total = 3, made = Date.now() }: ListOptions = {}) {
  const after = offset + count;
  return {
    ...{
      region: "DE",
      window: "day",
      category: null,
      generation,
      previous_generated_at: null,
      score_unit: "views",
    },
    generated_at: new Date(made).toISOString(),
    token: `token-${generation}-${offset}`,
    ...{
      count,
      total,
      items: Array.from({ length: count }, (_, index) => itemOf(offset + index + 1, generation)),
    },
    next:
      after < total
        ? `/api/trending?region=DE&fields=chart&limit=${count}&cursor=${generation}-${after}`
        : null,
  };
}

function itemOf(rank: number, generation: number) {
  return {
    ...{ id: `video-${rank}`, rank, previous_rank: rank, title: `Title ${rank} of list ${generation}` },
    ...{ channel: "A channel", category: "Music", published_at: null, score: 1000, expected_views: null },
    velocity: { views_per_hour: 100, previous_views_per_hour: null, views: 5000 },
    thumbs: [`${scriptedAddress}/none.webp`, `${scriptedAddress}/none.webp`],
    url: `${scriptedAddress}/watch/${rank}`,
    sparkline: Array(24).fill(1),
  };
}

describe("in a browser, the element on another site", () => {
  let edge: string;
  let pictures: Site;
  let partner: Site | undefined;

  before(async () => {
    const stack = await sharedStack();
    edge = stack.edge.url;
    pictures = stack.pictures;
  });
  afterEach(async () => {
    await partner?.stop();
    partner = undefined;
  });

  /** Opens a partner's page: a script tag of the edge, this markup, and a policy that allows no more than it needs. */
  async function open(markup: string, run: (page: Page) => Promise<void>, options: VisitOptions = {}) {
    const html = `<!doctype html><html lang="en"><title>A partner</title>
      <script type="module" src="${edge}/assets/trendvault-list.js"></script><main><h1>A partner</h1>${markup}</main>`;
    const policy = `default-src 'none'; script-src ${edge}; connect-src ${edge}; img-src ${pictures.url}; require-trusted-types-for 'script'`;
    partner = await serveSite("partner", {
      "/": { body: html, headers: { "content-security-policy": policy } },
    });
    await visit(partner.url, { hosts: [new URL(edge).host, pictures.host], ...options }, async ({ page }) => {
      await page.goto("/");
      await run(page);
    });
  }

  const titles = (page: Page) => page.locator("trendvault-list .title").allTextContents();
  const ranks = (page: Page) =>
    page
      .locator("trendvault-list li")
      .evaluateAll((items) => items.map((item) => Number((item as HTMLElement).dataset.rank)));
  const isShown = (page: Page) => page.locator("trendvault-list li").first().waitFor();

  test("shows the list of PL by one script tag, accessibly and within a strict policy", () =>
    open('<trendvault-list region="PL" limit="5"></trendvault-list>', async (page) => {
      await page.locator("trendvault-list li").nth(4).waitFor();
      assert.deepEqual(await ranks(page), [1, 2, 3, 4, 5]);
      await page.locator('trendvault-list [data-id^="pl-"]').first().waitFor();
      await assertAccessible(page);
    }));

  test("asks the server for a language of its own, and is in English where it has none", () =>
    open(
      '<trendvault-list region="PL" lang="he" limit="2"></trendvault-list><trendvault-list region="PL" lang="yi" limit="2"></trendvault-list>',
      async (page) => {
        const own = page.locator("trendvault-list[lang=he]");
        await own.locator(".foot[lang=he][dir=rtl]").filter({ hasText: "How this list is made" }).waitFor();
        await own.locator("summary").first().dispatchEvent("click");
        await own.locator(".explanation[lang=he]").filter({ hasText: "צפיות" }).waitFor();
        const other = page.locator("trendvault-list[lang=yi]");
        await other.locator(".foot[lang=en][dir=ltr]").waitFor();
      },
    ));

  test("is readable in a dark browser on a page that is light only", () =>
    open(
      '<trendvault-list region="PL" limit="5"></trendvault-list>',
      async (page) => {
        await isShown(page);
        await assertAccessible(page);
      },
      { colorScheme: "dark" },
    ));

  test("shows another list when an attribute changes", () =>
    open('<trendvault-list region="PL"></trendvault-list>', async (page) => {
      await isShown(page);
      await page.locator("trendvault-list").evaluate((element) => element.setAttribute("region", "DE"));
      await page.locator('trendvault-list [data-id^="de-"]').first().waitFor();
    }));

  test("shows further pages of the same generation while another is published", () =>
    open('<trendvault-list region="PL" limit="5"></trendvault-list>', async (page) => {
      await isShown(page);
      await (await sharedStack()).publish();
      const asked: string[] = [];
      page.on("request", (request) => asked.push(request.url()));
      const { generation, further } = await page.locator("trendvault-list").evaluate(async (element) => {
        const shown = element as HTMLElement & { loadNext(): Promise<boolean>; list: { generation: number } };
        const { generation } = shown.list;
        return { generation, further: [await shown.loadNext(), await shown.loadNext()] };
      });
      assert.deepEqual(further, [true, true]);
      const cursors = asked.flatMap((url) => new URL(url).searchParams.get("cursor") ?? []);
      assert.deepEqual(cursors, [`${generation}-5`, `${generation}-10`]);
      assert.deepEqual(
        await ranks(page),
        Array.from({ length: 15 }, (_, index) => index + 1),
      );
    }));

  test("that is to verify from now on shows nothing that it did not", () =>
    open('<trendvault-list region="PL" lang="en"></trendvault-list>', async (page) => {
      await isShown(page);
      const left = await page.locator("trendvault-list").evaluate((element) => {
        element.setAttribute("verify", "");
        return element.shadowRoot?.querySelectorAll("li").length;
      });
      assert.equal(left, 0);
      await isShown(page);
    }));

  test("shows what it verified", () =>
    open('<trendvault-list region="PL" lang="en" verify></trendvault-list>', isShown));

  test("shows nothing of a list in which one byte was changed, and says so", () =>
    open("", async (page) => {
      await page.route("**/api/trending?*", async (route) => {
        const response = await route.fetch();
        const body = await response.body();
        const at = body.indexOf('"rank":1') + '"rank":'.length;
        body[at] = (body[at] ?? 0) + 1;
        await route.fulfill({ response, body });
      });
      await page.evaluate(() => {
        const element = document.createElement("trendvault-list");
        for (const [name, value] of Object.entries({ region: "PL", lang: "en", verify: "" }))
          element.setAttribute(name, value);
        document.querySelector("main")?.append(element);
      });
      await page.getByText("could not be verified").waitFor();
      assert.deepEqual(await titles(page), []);
      await assertAccessible(page);
    }));
});

const start = Date.parse("2026-11-22T10:00:00Z");
const hour = 3_600_000;
const made = (minutes: number) => start + minutes * 60_000;
const element = (attributes = "") =>
  `<trendvault-list region="DE" lang="en" limit="3" ${attributes}></trendvault-list>`;

/**
 * Lets time pass on a page's clock that stands still. The element gives an answer 15 seconds of it, but answers take the
 * machine's time: no step is as long, and before the next one the element has read what it asked for.
 */
async function passTime(page: Page, edge: ScriptedEdge, milliseconds: number): Promise<void> {
  const step = 14_000;
  for (let left = milliseconds; left > 0; left -= step) {
    await page.clock.runFor(Math.min(step, left));
    await page.evaluate(() => fetch(location.href)); // what was sent before it has arrived
    await until(() => edge.answered === edge.asked.length);
    await page.evaluate(() => fetch(location.href)); // what was answered before it has been read
  }
}

describe("in a browser, the element as time passes", () => {
  /** Opens a page with the element on a clock that stands still, and waits for its list. */
  async function open(
    markup: string,
    run: (page: Page, edge: ScriptedEdge) => Promise<void>,
    errors: RegExp[] = [],
  ) {
    const hosts = [new URL(scriptedAddress).host];
    await visit(
      "http://partner.localhost",
      { hosts, errors: [/Failed to load resource/, ...errors] },
      async ({ page }) => {
        await page.clock.install({ time: start - hour });
        await page.clock.pauseAt(start); // installed, it goes on as the machine's does, and cannot be paused in its past
        const edge = new ScriptedEdge();
        edge.list = () => ({ body: listOf({ made: made(0), total: 9 }) });
        await edge.serve(page, markup);
        await page.getByText("Title 1 of list 1").waitFor();
        await run(page, edge);
      },
    );
  }

  const publish = (edge: ScriptedEdge) => {
    edge.list = () => ({ body: listOf({ generation: 2, made: made(1), total: 9 }) });
  };
  const setVisibility = (page: Page, state: "visible" | "hidden") =>
    page.evaluate((value) => {
      Object.defineProperty(document, "visibilityState", { value, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, state);

  test("asks for a newer list after a minute, and shows it", () =>
    open(element(), async (page, edge) => {
      publish(edge);
      await passTime(page, edge, 59_000);
      assert.equal(edge.asked.length, 1);
      await passTime(page, edge, 20_000);
      await page.getByText("Title 1 of list 2").waitFor();
      assert.equal(edge.asked.length, 2);
    }));

  test("asks for nothing while the page is hidden, and at once when it is shown again", () =>
    open(element(), async (page, edge) => {
      publish(edge);
      await setVisibility(page, "hidden");
      await page.clock.runFor(hour);
      assert.equal(edge.asked.length, 1);
      await setVisibility(page, "visible");
      await page.clock.runFor(1);
      await page.getByText("Title 1 of list 2").waitFor();
    }));

  test("asks for nothing once it is taken away", () =>
    open(element(), async (page, edge) => {
      await page.locator("trendvault-list").evaluate((list) => list.remove());
      await page.clock.runFor(hour);
      assert.equal(edge.asked.length, 1);
    }));

  test("offers a newer list, and does not replace the one that a visitor is using", () =>
    open(element(), async (page, edge) => {
      await page.locator("trendvault-list summary").first().dispatchEvent("click");
      publish(edge);
      await passTime(page, edge, 76_000);
      await page.getByText("A new list is out.").waitFor();
      assert.equal(await page.getByText("Title 1 of list 1").count(), 1);
      await page.getByRole("button").dispatchEvent("click");
      await page.getByText("Title 1 of list 2").waitFor();
      assert.equal(await page.getByText("A new list is out.").count(), 0);
    }));

  test("asks ever less often while it fails, keeps its list, and says when that is old", () =>
    open(element(), async (page, edge) => {
      edge.list = () => ({
        status: 500,
        body: { type: "/problems/internal", title: "…", status: 500, detail: "…" },
      });
      await passTime(page, edge, hour);
      assert.ok(
        edge.asked.length >= 4 && edge.asked.length <= 10,
        `${edge.asked.length} requests in an hour`,
      );
      assert.equal(await page.getByText("Title 1 of list 1").count(), 1);
      await page
        .getByRole("status")
        .getByText(/older than usual/)
        .waitFor();
    }));

  test("begins with the newest list when the one whose further pages it shows was deleted", () =>
    open(element(), async (page, edge) => {
      edge.list = (query) =>
        query.has("cursor")
          ? {
              status: 410,
              body: {
                type: "/problems/generation-gone",
                title: "…",
                status: 410,
                detail: "…",
                restart: "/api/trending?region=DE",
              },
            }
          : { body: listOf({ generation: 2, made: made(1), total: 9 }) };
      await page
        .locator("trendvault-list")
        .evaluate((list) => (list as HTMLElement & { loadNext(): Promise<boolean> }).loadNext());
      await page.getByText("Title 1 of list 2").waitFor();
    }));

  const change = (page: Page, attributes: Record<string, string>) =>
    page.locator("trendvault-list").evaluate((list, attributes) => {
      for (const [name, value] of Object.entries(attributes)) list.setAttribute(name, value);
    }, attributes);
  /** Of FR another list, which was made at the same time. */
  const answerByRegion = (query: URLSearchParams) => ({
    body: listOf({ generation: query.get("region") === "FR" ? 2 : 1, made: made(0), total: 9 }),
  });

  test("tries again to show another list that could not be loaded, and says that it is not there", () =>
    open(element(), async (page, edge) => {
      edge.list = () => ({ status: 500, body: "" });
      await change(page, { region: "FR", lang: "fr" });
      await page.getByText("This could not be loaded.").waitFor();
      edge.list = answerByRegion;
      await passTime(page, edge, 160_000);
      await page.getByText("Title 1 of list 2").waitFor();
      assert.equal(await page.locator("trendvault-list .notice span").count(), 0);
    }));

  test("adds to its list what that list's attributes said, while another one is loading that then fails", () =>
    open(element(), async (page, edge) => {
      const other = Promise.withResolvers<null>();
      const next = Promise.withResolvers<Answer>();
      edge.list = (query) => (query.has("cursor") ? next.promise : other.promise);
      await change(page, { region: "FR", lang: "fr" });
      type Paging = HTMLElement & { loadNext(isWanted?: () => boolean): Promise<boolean> };
      const shown = page.locator("trendvault-list").evaluate((list) => {
        const { loadNext } = list as Paging;
        return Promise.all([loadNext.call(list, () => false), loadNext.call(list)]); // one of them wants it
      });
      next.resolve({ body: listOf({ offset: 3, made: made(0), total: 9 }) });
      assert.deepEqual(await shown, [true, true]);
      other.resolve(null);
      for (let step = 0; step < 3; step++) await passTime(page, edge, 1000); // it asks a second time
      await page.getByText("This could not be loaded.").waitFor();
      const why = await page.locator("trendvault-list summary").allTextContents();
      assert.deepEqual(
        why,
        [1, 2, 3, 4, 5, 6].map((rank) => `Why here? (${rank})`),
      );
    }));

  test("adds nothing to a newer list that was asked for before it was shown", () =>
    open(element(), async (page, edge) => {
      const list = page.locator("trendvault-list");
      type Refreshing = Record<"loadNext" | "refresh", () => Promise<boolean>> & { showNewer(): void };
      publish(edge);
      const newer = edge.list;
      assert.ok(await list.evaluate((list) => (list as unknown as Refreshing).refresh()));
      const answers = Promise.withResolvers<void>();
      edge.list = async (query) => {
        await answers.promise;
        return query.has("cursor") ? { body: listOf({ offset: 3, made: made(0), total: 9 }) } : newer(query);
      };
      const late = list.evaluate((list) => {
        const { loadNext, refresh } = list as unknown as Refreshing;
        return Promise.all([loadNext.call(list), refresh.call(list)]);
      });
      await until(() => edge.asked.length === 4);
      await list.evaluate((list) => (list as unknown as Refreshing).showNewer());
      await page.getByText("Title 1 of list 2").waitFor();
      answers.resolve();
      assert.deepEqual(await late, [false, false]);
      assert.equal(await page.locator("trendvault-list li").count(), 3);
    }));

  test("says of its list when that was made, also when an older one is answered", () =>
    open(element(), async (page, edge) => {
      const foot = () => page.locator("trendvault-list .foot").textContent();
      const before = await foot();
      edge.list = () => ({ body: listOf({ made: made(-3), total: 9 }) });
      await passTime(page, edge, 76_000);
      assert.deepEqual([edge.asked.length, await foot()], [2, before]);
    }));

  test("is in the language of its list, when the words of one that it was to show before come late", () =>
    open(element(), async (page, edge) => {
      const words = Promise.withResolvers<void>();
      edge.assets = words.promise;
      const asked = page.waitForRequest(`${scriptedAddress}/assets/**`);
      await change(page, { lang: "de" });
      const late = await asked;
      await change(page, { lang: "en" });
      await passTime(page, edge, 1000);
      words.resolve();
      await (await late.response())?.finished();
      await passTime(page, edge, 76_000);
      await page
        .locator("trendvault-list .foot[lang=en]")
        .filter({ hasText: "How this list is made" })
        .waitFor();
    }));

  test("shows the list that its attributes name by then, when it is put in again", () =>
    open(element(), async (page, edge) => {
      edge.list = answerByRegion;
      await page.locator("trendvault-list").evaluate(async (list) => {
        list.remove();
        list.setAttribute("region", "FR");
        await Promise.resolve();
        document.body.append(list);
      });
      await page.getByText("Title 1 of list 2").waitFor();
    }));

  test("goes on with its list when it is moved, and asks for that no second time", () =>
    open(element(), async (page, edge) => {
      edge.list = () => ({ body: listOf({ offset: 3, made: made(0), total: 9 }) });
      type Paging = HTMLElement & { loadNext(): Promise<boolean> };
      const isShown = await page.locator("trendvault-list").evaluate((list) => {
        document.body.prepend(list);
        return (list as Paging).loadNext();
      });
      assert.ok(isShown);
      assert.deepEqual(
        edge.asked.map((query) => query.includes("cursor=")),
        [false, true],
      );
    }));

  test("says why a video is where it is when a visitor asks", () =>
    open(element(), async (page) => {
      await page.locator("trendvault-list summary").nth(1).dispatchEvent("click");
      await page.getByText("Why video-2 is there in DE.").waitFor();
      assert.equal(await page.getByText("Why video-1").count(), 0);
    }));

  test("is written from right to left in a language that is, on a page that is not", () =>
    open(element().replace('lang="en"', 'lang="ar"'), async (page) => {
      await page.getByText("كيف تُعدّ هذه القائمة").waitFor();
      const places = await page
        .locator("trendvault-list li")
        .evaluateAll(([first]) =>
          [".place", ".text"].map((part) => first?.querySelector(part)?.getBoundingClientRect().left ?? 0),
        );
      assert.ok((places[0] ?? 0) > (places[1] ?? 0));
    }));

  test("a picture that cannot be loaded is replaced by ours", () =>
    open(element(), async (page) => {
      await page.locator("trendvault-list svg.placeholder").first().waitFor();
    }));

  test("reports impressions once, and of a list that came by itself only clicks, wherever the page moves it", () =>
    open(element("views"), async (page, edge) => {
      await page
        .locator("trendvault-list")
        .evaluate((list) => list.addEventListener("trendvault-open", (event) => event.preventDefault()));
      await page // observers are told in the order in which they were made
        .locator("trendvault-list li")
        .last()
        .evaluate((item) => new Promise((resume) => new IntersectionObserver(resume).observe(item)));
      publish(edge);
      await passTime(page, edge, 76_000);
      await page.locator("trendvault-list").evaluate((list) => document.body.append(list));
      await page.getByText("Title 2 of list 2").dispatchEvent("click");
      await setVisibility(page, "hidden");
      await until(() => edge.told.length === 2);
      assert.deepEqual(edge.told, [
        { token: "token-1-0", seen: 3, opened: [] },
        { token: "token-2-0", seen: 0, opened: [2] },
      ]);
    }));
});

describe("in a browser, the element without a list", () => {
  type Failing = HTMLElement & { state: string | null };
  const fallback = '<a href="/videos">Our videos</a>';
  const markup = (attributes = "") => element(attributes).replace("></", `>${fallback}</`);
  const stateOf = (page: Page) => page.locator("trendvault-list").evaluate((list) => (list as Failing).state);

  /** Opens a page whose list is answered with this, and gives what it says in the console and in events. */
  async function open(
    answer: Answered,
    html: string,
    run: (page: Page, edge: ScriptedEdge, said: string[]) => Promise<void>,
  ) {
    const hosts = [new URL(scriptedAddress).host];
    await visit("http://partner.localhost", { hosts, errors: [/./] }, async ({ page }) => {
      await page.clock.install({ time: start - hour });
      await page.clock.pauseAt(start);
      const said: string[] = [];
      page.on("console", (message) => said.push(message.text()));
      await page.addInitScript(() =>
        addEventListener("trendvault-failure", (event) => {
          const { state, error } = (event as unknown as CustomEvent<{ state: string; error: Error }>).detail;
          console.log(`failure ${state}: ${error.message}`);
        }),
      );
      const edge = new ScriptedEdge();
      edge.list = () => answer;
      await edge.serve(page, html);
      await run(page, edge, said);
    });
  }

  test("says that it loads, gives up after 15 seconds, shows what stands inside it, and tries again", () =>
    open("nothing", markup(), async (page, edge, said) => {
      await page.getByText("Loading…").waitFor();
      assert.equal(await stateOf(page), "loading");
      assert.ok(!(await page.getByText("Our videos").isVisible()));
      await until(() => edge.asked.length === 1); // its time has begun
      await page.clock.runFor(15_000);
      await page.getByText("This could not be loaded.").waitFor();
      assert.ok(await page.getByText("Our videos").isVisible());
      assert.equal(await stateOf(page), "unavailable");
      assert.match(said.join(), /failure unavailable: .*scripted.example.api.trending.*15 s/);
      edge.list = () => ({ body: listOf({ made: made(0) }) });
      await page.getByRole("button", { name: "Try again" }).dispatchEvent("click");
      await page.getByText("Title 1 of list 1").waitFor();
      assert.ok(!(await page.getByText("Our videos").isVisible()));
      assert.equal(await page.getByText("This could not be loaded.").count(), 0);
      assert.equal(await stateOf(page), "live");
    }));

  test("shows a list that is there, although the server does not say whose pictures may be shown", () =>
    open({ body: listOf({ made: made(0) }) }, "", async (page, edge) => {
      await page.route("**/api/about", () => {});
      const asked = page.waitForRequest("**/api/about");
      await page.locator("body").evaluate((body, html) => body.setHTMLUnsafe(html), markup());
      await asked;
      await passTime(page, edge, 5000);
      await page.getByText("Title 1 of list 1").waitFor();
    }));

  test("gives up after 15 seconds when the keys do not come", () =>
    open({ body: listOf() }, markup(), async (page, edge) => {
      await page.getByText("Title 1 of list 1").waitFor();
      const asked = page.waitForRequest("**/.well-known/jwks.json");
      await page.route("**/.well-known/jwks.json", () => {});
      await page.locator("trendvault-list").evaluate((list) => list.setAttribute("verify", ""));
      await asked;
      await passTime(page, edge, 15_000);
      await page.getByText("This could not be loaded.").waitFor();
    }));

  const refused = { type: "/problems/invalid-parameter", title: "…", status: 400, detail: "region: unknown" };
  const wrong: [string, Answered, string, RegExp][] = [
    ["a region that is none", { status: 400, body: refused }, "", /<trendvault-list>: region: unknown/],
    [
      "an address that is none",
      "nothing",
      'src="trending.example"',
      /<trendvault-list>: .*trending\.example/,
    ],
    ["an address without a host", "nothing", 'src="https:"', /<trendvault-list>: .*"https:"/],
  ];
  for (const [name, answer, attributes, expected] of wrong) {
    test(`says ${name} in the console and in an event`, () =>
      open(answer, markup(attributes), async (page, _edge, said) => {
        await page.getByText("This could not be loaded.").waitFor();
        assert.equal(await stateOf(page), "refused");
        assert.match(said.join("\n"), expected);
        assert.match(said.join("\n"), /failure refused/);
        assert.ok(await page.getByText("Our videos").isVisible());
      }));
  }
});
