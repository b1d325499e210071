import type { BrowserContext, Page } from "playwright-core";
import { type Stack, sharedStack } from "./stack.ts";
import { type VisitOptions, visit } from "./visit.ts";

/** A page with its scripts, and what is often looked at. */
export type OpenPage = { page: Page; context: BrowserContext; stack: Stack };

/** Opens a target at the edge as a visitor, whose browser may load the pictures. `stack` is the shared one, if not given. */
export async function openPage(
  target: string,
  run: (open: OpenPage) => Promise<void>,
  { stack, prepare, ...options }: OpenOptions = {},
): Promise<void> {
  const used = stack ?? (await sharedStack());
  const hosts = [used.pictures.host, ...(options.hosts ?? [])];
  await visit(used.edge.url, { ...options, hosts }, async ({ page, context }) => {
    await prepare?.(page);
    await page.goto(target);
    if (options.javaScriptEnabled !== false && new URL(page.url()).pathname === "/") await isLive(page);
    await run({ page, context, stack: used });
  });
}

export type OpenOptions = VisitOptions & { stack?: Stack; prepare?: (page: Page) => Promise<unknown> };

/** Resolves when the page's script has started: it then says the list's age. */
async function isLive(page: Page): Promise<void> {
  await page.locator("#as-of time").filter({ hasText: "(" }).waitFor();
}

/** The ranks that are shown, in their order. */
export function ranksOf(page: Page): Promise<number[]> {
  return page
    .locator("trendvault-list li")
    .evaluateAll((items) => items.map((item) => Number(item.dataset.rank)));
}

/** The ids of the videos that are shown, in their order. */
export function idsOf(page: Page): Promise<string[]> {
  return page
    .locator("trendvault-list [data-id]")
    .evaluateAll((elements) => elements.map((element) => (element as HTMLElement).dataset.id ?? ""));
}

/** 1 to a number. */
export function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}
