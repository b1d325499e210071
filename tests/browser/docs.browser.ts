import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import openapi from "@trendvault/contract/openapi.json" with { type: "json" };
import { sharedStack } from "./test-support/stack.ts";
import { assertAccessible, visit } from "./test-support/visit.ts";

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
      await assertAccessible(page);
    });
    await visit(edge, { javaScriptEnabled: false }, async ({ page }) => {
      await page.goto("/docs");
      await page.getByRole("link").dispatchEvent("click");
      await page.waitForURL("**/openapi.json", { waitUntil: "commit" });
    });
  });
});
