import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import {
  bundle,
  exampleAddress,
  importMap,
  readmeExamples,
  serveExamples,
} from "./test-support/packed-client.ts";
import { sharedStack } from "./test-support/stack.ts";
import { serveSite, visit } from "./test-support/visit.ts";

describe("in a browser, the packed package", () => {
  let edge: string;
  let hosts: string[];
  before(async () => {
    const stack = await sharedStack();
    edge = stack.edge.url;
    hosts = [new URL(exampleAddress).host, stack.pictures.host];
  });

  type Options = { script?: string; change?: (body: Buffer) => Buffer };

  /** Opens a partner's page, and gives what it prints. */
  async function open(
    body: string,
    { script = "", ...options }: Options,
    run: (page: Page, printed: string[]) => Promise<void>,
  ) {
    const html = `<!doctype html><title>A partner</title><script type="importmap">${importMap}</script>${body}`;
    const partner = await serveSite("partner", {
      "/": { body: html },
      "/app.js": { body: script, headers: { "content-type": "text/javascript" } },
    });
    try {
      await visit(partner.url, { hosts }, async ({ page, context }) => {
        const printed: string[] = [];
        page.on("console", (message) => printed.push(message.text()));
        await serveExamples(context, { edge, ...options });
        await page.goto("/");
        await run(page, printed);
      });
    } finally {
      await partner.stop();
    }
  }

  const module = (code: string) => `<script type="module">${code};document.title = "done"</script>`;
  const isDone = (page: Page) => page.waitForFunction(() => document.title === "done");
  const [list = "", all = "", verify = ""] = readmeExamples("js");
  const [element = ""] = readmeExamples("html");

  test("runs the README's examples of a list and of all pages", async () => {
    await open(module(list), {}, async (page, printed) => {
      await isDone(page);
      assert.match(printed.join("\n"), /^1 .+\n(.*\n){3}5 .+$/);
    });
    await open(module(all), {}, async (page, printed) => {
      await isDone(page);
      assert.ok(printed.length > 24, `${printed.length} items`); // more than a page
      assert.deepEqual(
        printed.map((line) => Number(line.split(" ")[0])),
        printed.map((_, index) => index + 1),
      );
    });
  });

  test("tells what is genuine from what was changed by a byte", async () => {
    await open(module(verify), {}, async (page, printed) => {
      await isDone(page);
      assert.deepEqual(printed, ["24 genuine items"]);
    });
    const change = (body: Buffer) => {
      const changed = Buffer.from(body);
      const at = Math.floor(Math.random() * changed.length);
      changed[at] = changed[at] === 0x20 ? 0x21 : 0x20;
      return changed;
    };
    await open(module(verify), { change }, async (page, printed) => {
      await isDone(page);
      assert.deepEqual(printed, ["not genuine: digest-differs"]);
    });
  });

  test("shows the element by the README's script tag", () =>
    open(element, {}, async (page) => {
      await page.locator("trendvault-list li").nth(9).waitFor();
      await page.locator('trendvault-list [data-id^="pl-"]').first().waitFor();
    }));

  const withLinks = (body: Buffer) =>
    Buffer.from(body.toString().replaceAll('"url":null', '"url":"https://videos.example/1"'));
  const app = '<div id="root"></div><script type="module" src="/app.js"></script>';

  /** What an app prints when the first video of DE is opened: its id. */
  const opensVideos = (script: string) =>
    open(app, { script, change: withLinks }, async (page, printed) => {
      await page.locator("trendvault-list li").nth(4).waitFor();
      const id = await page.locator("trendvault-list [data-id]").first().getAttribute("data-id");
      await Promise.all([page.waitForEvent("console"), page.locator(".title a").first().click()]);
      assert.deepEqual(printed, [id]);
      assert.equal(await page.locator("trendvault-list li").count(), 5); // the link was not followed
    });

  test("shows the element in React, and gives its events", () =>
    opensVideos(bundle("react.tsx", readmeExamples("tsx")[0] ?? "")));

  test("shows the element in Vue, and gives its events", () =>
    opensVideos(
      bundle(
        "vue.ts",
        `import "@trendvault/client/vue";
         import { createApp } from "vue/dist/vue.esm-bundler.js";
         const template = ${JSON.stringify(readmeExamples("vue")[0])};
         const app = createApp({ template, methods: { open: (id) => console.log(id) } });
         app.config.compilerOptions.isCustomElement = (tag) => tag === "trendvault-list";
         app.mount("#root");`,
      ),
    ));
});
