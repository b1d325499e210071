import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { before, describe, test } from "node:test";
import { newFolder } from "@trendvault/kit/machine";
import { Random } from "@trendvault/kit/random";
import type { BrowserContext, Page, Route } from "playwright-core";
import { sharedStack } from "./test-support/stack.ts";
import { serveSite, visit } from "./test-support/visit.ts";

const client = join(import.meta.dirname, "../../web/client");
const folder = newFolder("packed");
process.once("exit", () => rmSync(folder, { recursive: true }));

/** The address that the examples of web/client/README.md name. */
const exampleAddress = "https://trending.example.com";
const installed = join(folder, "node_modules/@trendvault/client");
const types: Record<string, string> = { ".js": "text/javascript", ".json": "application/json" };

const random = new Random();
let isPacked = false;

/** Installs @trendvault/client from its tarball, once. */
function pack(): void {
  if (!isPacked) execFileSync("bun", ["run", "install-packed", folder], { cwd: client, stdio: "ignore" });
  isPacked = true;
}

/** The examples of its README in a language. */
function readmeExamples(language: string): string[] {
  const text = readFileSync(join(client, "README.md"), "utf8");
  return [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g"))].map(
    ([, code = ""]) => code,
  );
}

/** A program that imports the package, as a bundler makes it for browsers. */
function bundle(name: string, code: string): string {
  pack();
  const [source, made] = [join(folder, name), join(folder, `${name}.bundle.js`)];
  writeFileSync(source, code);
  const define = ["process.env.NODE_ENV", "__VUE_OPTIONS_API__", "__VUE_PROD_DEVTOOLS__"].map(
    (key) => `--define=${key}=${key.startsWith("process") ? '"production"' : "true"}`,
  );
  execFileSync("bun", ["build", source, `--outfile=${made}`, "--target=browser", "--minify", ...define], {
    stdio: "ignore",
  });
  return readFileSync(made, "utf8");
}

/**
 * Answers for the site that the examples name: files of the tarball at /assets/ and /package/, the rest by an edge.
 * `change` may replace the bytes of an answer of the API.
 */
async function serveExamples(
  context: BrowserContext,
  { edge, change = (body) => body }: { edge: string; change?: (body: Buffer) => Buffer },
): Promise<void> {
  pack();
  const sendFile = (route: Route, path: string) => {
    const headers = {
      "content-type": types[extname(path)] ?? "text/plain",
      "access-control-allow-origin": "*",
    };
    return existsSync(path) ? route.fulfill({ headers, path }) : route.fulfill({ status: 404 });
  };
  await context.route(`${exampleAddress}/**`, async (route) => {
    const { pathname, search } = new URL(route.request().url());
    if (pathname.startsWith("/assets/"))
      return sendFile(route, join(installed, "dist/script", pathname.slice(8)));
    if (pathname.startsWith("/package/"))
      return sendFile(route, join(folder, "node_modules", pathname.slice(9)));
    const response = await route.fetch({ url: edge + pathname + search });
    const body = await response.body();
    await route.fulfill({ response, body: pathname.startsWith("/api/") ? change(body) : body });
  });
}

/** Where a page finds the package's modules, without a bundler. */
const importMap = JSON.stringify({
  imports: {
    "@trendvault/client": `${exampleAddress}/package/@trendvault/client/dist/index.js`,
    "@trendvault/client/verify": `${exampleAddress}/package/@trendvault/client/dist/verify.js`,
    "structured-headers": `${exampleAddress}/package/structured-headers/dist/index.js`,
  },
});

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

  test(`tells what is genuine from what was changed by a byte (TEST_SEED=${random.seed})`, async () => {
    await open(module(verify), {}, async (page, printed) => {
      await isDone(page);
      assert.deepEqual(printed, ["24 genuine items"]);
    });
    const change = (body: Buffer) => {
      const changed = Buffer.from(body);
      const at = random.below(changed.length);
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
      await Promise.all([
        page.waitForEvent("console"),
        page.locator(".title a").first().dispatchEvent("click"),
      ]);
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
