import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { globSync, readFileSync, rmSync } from "node:fs";
import { extname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import openapi from "@trendvault/contract/openapi.json" with { type: "json" };
import { newFolder, root } from "@trendvault/kit/machine";
import { sharedStack } from "./test-support/stack.ts";
import { assertAccessible, type Site, serveSite, visit } from "./test-support/visit.ts";

describe("in a browser, the reference of the API", () => {
  let edge: string;
  before(async () => {
    edge = (await sharedStack()).edge.url;
  });

  test("shows every operation of the description", () =>
    visit(edge, {}, async ({ page }) => {
      await page.goto("/docs");
      await page.locator(".opblock").first().waitFor();
      const shown = await page
        .locator(".opblock-summary-path")
        .evaluateAll((paths) => paths.map((path) => path.getAttribute("data-path")));
      assert.deepEqual(shown.sort(), Object.keys(openapi.paths).sort());
    }));

  test("tries a request on this server, and shows its answer and what it is documented to be", () =>
    visit(edge, {}, async ({ page }) => {
      await page.goto("/docs#/Lists/listTrending");
      const operation = page.locator("#operations-Lists-listTrending");
      await operation.getByText("/problems/generation-gone").first().waitFor(); // the description is resolved
      const answered = page.waitForResponse((response) => response.url().includes("/api/trending?"));
      await operation.getByRole("button", { name: "Execute" }).dispatchEvent("click");
      assert.equal((await answered).status(), 200);
      const answer = operation.locator(".live-responses-table");
      assert.match((await answer.locator(".response-col_status").last().textContent()) ?? "", /^200/);
      assert.match(
        (await answer.locator(".response-col_description").last().textContent()) ?? "",
        /"generation"/,
      );
      await assertAccessible(page);
    }));

  test("shows a refused request as the problem that it is", () =>
    visit(edge, { errors: [/status of 404/] }, async ({ page }) => {
      await page.goto("/docs#/Lists/readVideo");
      const operation = page.locator("#operations-Lists-readVideo");
      await operation.getByText("/problems/not-found").first().waitFor(); // the description is resolved
      const id = operation.getByPlaceholder("id");
      await id.fill("none");
      await id.blur(); // until it is left, Swagger UI takes what is typed a third of a second later
      await operation.getByRole("button", { name: "Execute" }).dispatchEvent("click");
      await operation.locator(".live-responses-table").getByText("/problems/not-found").waitFor();
    }));

  test("keeps to the scheme of the visitor, and links to the description without scripts", async () => {
    await visit(edge, { colorScheme: "dark" }, async ({ page }) => {
      await page.goto("/docs");
      await page.locator("html.dark-mode .opblock").first().waitFor();
      const ground = await page
        .locator("#docs, #docs > *, .swagger-ui")
        .evaluateAll((parts) => parts.map((part) => getComputedStyle(part).backgroundColor));
      assert.deepEqual([...new Set(ground)], ["rgba(0, 0, 0, 0)"]); // that of the page is seen
      await assertAccessible(page);
    });
    await visit(edge, { javaScriptEnabled: false }, async ({ page }) => {
      await page.goto("/docs");
      await page.getByRole("link").dispatchEvent("click");
      await page.waitForURL("**/openapi.json", { waitUntil: "commit" });
    });
  });
});

describe("in a browser, the site of documents", () => {
  const folder = newFolder("documents");
  const types: Record<string, string> = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
  };
  let site: Site;
  before(async () => {
    execFileSync("bun", [join(root, "web/page/documents/build.ts"), folder]);
    site = await serveSite("documents", (path) => ({
      headers: { "content-type": types[extname(path)] ?? "text/html" },
      body: readFileSync(join(folder, path)),
    }));
  });
  after(async () => {
    await site.stop();
    rmSync(folder, { recursive: true });
  });

  test("no page scrolls sideways at 320 pixels, and none needs a script but the search", () =>
    visit(site.url, { viewport: { width: 320, height: 800 } }, async ({ page }) => {
      for (const path of globSync("**/*.html", { cwd: folder })) {
        await page.goto(`/${path}`);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.equal(`${path}: ${wide}`, `${path}: 320`);
        assert.equal(await page.locator("script").count(), path === "search.html" ? 2 : 0);
      }
    }));

  for (const [colorScheme, width] of [
    ["light", 320], // where tables and code scroll
    ["dark", 1280],
  ] as const)
    test(`axe finds nothing on the kinds of pages, ${colorScheme}, ${width} pixels wide`, () =>
      visit(site.url, { colorScheme, viewport: { width, height: 800 } }, async ({ page }) => {
        for (const path of ["index", "README", "docs/http-api", "docs/benchmarks", "search"]) {
          await page.goto(`/${path}.html?q=region`);
          await assertAccessible(page);
        }
      }));

  test("each first question is answered by one of the first three finds, in the words of README", () =>
    visit(site.url, {}, async ({ page }) => {
      await page.goto("/index.html");
      const rows = await page.locator("#first-questions + .wide tr").evaluateAll((all) =>
        all.map((row) => ({
          questions: row.querySelector("td")?.textContent?.split(/(?<=\?) /) ?? [],
          pages: [...row.querySelectorAll("a")].map(({ pathname }) => pathname),
        })),
      );
      assert.equal(rows.length, 9);
      await page.goto("/search.html");
      for (const { questions, pages } of rows)
        for (const question of questions) {
          await page.getByRole("searchbox").fill(question);
          const found = await page
            .locator(".results a")
            .evaluateAll((links) => links.slice(0, 3).map((link) => (link as HTMLAnchorElement).pathname));
          assert.ok(
            found.some((path) => pages.includes(path)),
            `${question}: ${found}`,
          );
        }
    }));

  test("a misspelt word of any page is found on the page of the search, and leads to its part of a document", () =>
    visit(site.url, {}, async ({ page }) => {
      await page.goto("/docs/changing.html");
      await page.getByRole("searchbox").fill("retenton");
      await page.getByRole("searchbox").press("Enter");
      await page.waitForURL("**/search.html?q=retenton");
      await page.getByRole("link", { name: /^Privacy.*: Retention$/ }).click();
      await page.waitForURL("**/docs/privacy.html#retention");
      await page.getByRole("navigation", { name: "Documents" }).getByText("Editors").click();
      await page.getByRole("link", { name: "The ranking" }).click();
      await page.waitForURL("**/docs/ranking.html");
    }));

  test("nothing is found of words that no document has, and without scripts the search says so", async () => {
    await visit(site.url, {}, async ({ page }) => {
      await page.goto("/search.html?q=xqzzy");
      await page.getByText("Nothing found.").waitFor();
    });
    await visit(site.url, { javaScriptEnabled: false }, async ({ page }) => {
      await page.goto("/search.html?q=region");
      await page.getByRole("status").getByRole("link").click();
      await page.getByRole("link", { name: "How does it rank?" }).click();
      await page.waitForURL("**/docs/ranking.html");
    });
  });
});
