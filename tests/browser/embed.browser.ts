import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { sharedStack } from "./test-support/stack.ts";
import { assertAccessible, type Site, serveSite, visit } from "./test-support/visit.ts";

/** What hears the messages of frames as wp-embed.js does: it sets their height, and follows links to their own host. */
const wordPress = `
  addEventListener("message", ({ data, source }) => {
    if (!data || /[^a-zA-Z0-9]/.test(data.secret)) return;
    for (const frame of document.querySelectorAll('iframe[data-secret="' + data.secret + '"]')) {
      if (source !== frame.contentWindow) continue;
      if (data.message === "height") frame.height = Math.min(Math.max(parseInt(data.value, 10), 200), 1000);
      if (data.message !== "link" || document.activeElement !== frame) continue;
      if (new URL(data.value).host === new URL(frame.src).host) top.location.href = data.value;
    }
  });
  addEventListener("load", () => {
    for (const frame of document.querySelectorAll("iframe"))
      frame.contentWindow.postMessage({ message: "ready", secret: frame.dataset.secret }, "*");
  });`;

const secret = "aB3dE6gH9j";

type Oembed = {
  version: string;
  type: string;
  provider_name: string;
  width: number;
  height: number;
  html: string;
};

describe("the embedded page", () => {
  let edge: string;
  let pictures: string;

  before(async () => {
    const stack = await sharedStack();
    [edge, pictures] = [stack.edge.url, stack.pictures.host];
  });

  /** Opens a page of another site with this frame. */
  async function inFrame(
    { frame, ...options }: { frame: string; javaScriptEnabled?: boolean; errors?: RegExp[] },
    run: (page: Page) => Promise<void>,
  ): Promise<void> {
    const body = `<!doctype html><html lang="en"><title>A blog</title><h1>A blog</h1>
      <script>${wordPress}</script>${frame}`;
    const partner: Site = await serveSite("partner", { "/": { body } });
    try {
      const hosts = [new URL(edge).host, pictures, "videos.example"];
      await visit(partner.url, { ...options, hosts }, async ({ page }) => {
        await page.goto("/");
        await run(page);
      });
    } finally {
      await partner.stop();
    }
  }

  const embedded = (attributes: string, search = "?region=DE&window=now") =>
    `<iframe ${attributes} width="600" height="300" title="Trending" src="${edge}/embed${search}#?secret=${secret}"></iframe>`;
  const inWordPress = () =>
    embedded(`sandbox="allow-scripts" class="wp-embedded-content" data-secret="${secret}"`);

  test("shows its list in the sandbox of WordPress, which gives it its height", async () => {
    await inFrame({ frame: inWordPress() }, async (page) => {
      const list = page.frameLocator("iframe").locator("trendvault-list");
      assert.equal(await list.locator("li").count(), 24);
      await list.locator(".foot").waitFor(); // its script has run
      await page.locator('iframe[height="1000"]').waitFor();
      assert.equal(await page.frames()[1]?.evaluate(() => origin), "null");
      const [asked] = await Promise.all([
        page.waitForResponse((response) => response.url().includes("/explain")),
        list.locator("summary").first().click(),
      ]);
      assert.equal(asked.status(), 200); // it may ask the API from there
    });
  });

  test("leads to its own site by a message to WordPress, where no link may open anything", async () => {
    await inFrame({ frame: inWordPress() }, async (page) => {
      const frame = page.frameLocator("iframe");
      await frame.locator("trendvault-list .foot").waitFor();
      await frame.locator("li a").first().click(); // of a video at another host
      await page.waitForURL(`${edge}/?region=DE&window=now`);
    });
  });

  test("opens a video beside the site that frames it, where that allows it", async () => {
    await inFrame({ frame: embedded("").replace(/#[^"]+/, "") }, async (page) => {
      const frame = page.frameLocator("iframe");
      await frame.locator("trendvault-list .foot").waitFor();
      await page.context().route("https://videos.example/**", (route) => route.fulfill({ body: "a video" }));
      const [opened] = await Promise.all([page.waitForEvent("popup"), frame.locator("li a").first().click()]);
      await opened.waitForURL("https://videos.example/**");
      assert.equal(await frame.locator("li").count(), 24); // it has not left its frame
    });
  });

  /** What WordPress makes of an address that somebody pastes into a post, of a site that it does not know. */
  async function discover(address: string, room: { maxwidth: string; maxheight: string }): Promise<string> {
    const reach = (url: string) => fetch(url.replace("https://trending.example", edge));
    const head = (await (await reach(address)).text()).split("</head>")[0] ?? "";
    const link = head.match(/<link [^>]*>/g)?.find((tag) => tag.includes('type="application/json+oembed"'));
    const endpoint = new URL(/href="([^"]*)"/.exec(link ?? "")?.[1]?.replaceAll("&amp;", "&") ?? "");
    const asked = { ...room, url: address, dnt: "1", format: "json" };
    for (const [name, value] of Object.entries(asked)) endpoint.searchParams.set(name, value);
    const answer = (await (await reach(endpoint.href)).json()) as Oembed;
    assert.deepEqual([answer.version, answer.type, answer.provider_name], ["1.0", "rich", "Kanal Eins"]);
    assert.ok(answer.width <= Number(room.maxwidth));
    assert.ok(answer.height <= Number(room.maxheight));
    const [frame = ""] = /<iframe [^>]*><\/iframe>/.exec(answer.html) ?? [];
    const allowed = frame.match(
      / (src|width|height|frameborder|marginwidth|marginheight|scrolling|title)="[^"]*"/g,
    );
    return `<iframe class="wp-embedded-content" sandbox="allow-scripts" data-secret="${secret}"${allowed
      ?.join("")
      .replace(/src="([^"]*)"/, `src="$1#?secret=${secret}"`)}></iframe>`;
  }

  test("is found, cleaned and framed by WordPress, from the address of a page", async () => {
    const room = { maxwidth: "500", maxheight: "750" };
    const frame = await discover("https://trending.example/?region=PL&window=week&lang=en", room);
    assert.match(frame, / src="https:\/\/trending.example\/embed\?region=PL&amp;window=week&amp;lang=en#/);
    assert.match(frame, / width="500" height="500" title="Trending: Poland – Kanal Eins"/);
    await inFrame({ frame: frame.replace("https://trending.example", edge) }, async (page) => {
      const list = page.frameLocator("iframe").locator("trendvault-list");
      await list.locator(".foot").waitFor();
      assert.equal(await list.locator("li").count(), 24);
      await page.locator('iframe[width="500"][height="1000"]').waitFor();
    });
  });

  test("is a plain list without scripts", async () => {
    await inFrame({ frame: embedded(""), javaScriptEnabled: false }, async (page) => {
      const frame = page.frameLocator("iframe");
      assert.equal(await frame.locator("trendvault-list li").count(), 24);
      const address = await frame.locator("h1 a").getAttribute("href");
      assert.equal(address, "/?region=DE&window=now");
    });
  });

  test("is in the language that it is asked for, and accessible", async () => {
    await visit(edge, { hosts: [pictures] }, async ({ page }) => {
      await page.goto("/embed?region=DE&lang=fr");
      await page.locator("trendvault-list .foot").waitFor();
      assert.equal(await page.locator("html").getAttribute("lang"), "fr");
      await assertAccessible(page);
    });
  });

  test("shows in its frame what goes wrong", async () => {
    const frame = embedded("").replace("region=DE", "region=XX");
    await inFrame({ frame, errors: [/status of 400/] }, async (page) => {
      const title = await page.frameLocator("iframe").locator("h1").textContent();
      assert.equal(title, "This address is not understood");
    });
  });

  test("is the only page that others may frame", async () => {
    const frame = embedded("").replace("/embed?", "/?");
    await inFrame({ frame, errors: [/frame-ancestors/] }, async (page) => {
      assert.equal(await page.frameLocator("iframe").locator("li").count(), 0);
    });
  });
});
