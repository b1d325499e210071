import { expect, test } from "bun:test";
import { TestTokenSigner } from "@trendvault/contract/test-support/test-token-signer";
import { claimsOf } from "@trendvault/contract/token";
import type { TrendingPage } from "../../generated/types.gen.ts";
import { pageOf } from "../../test-support/fake-server.ts";
import { verifyPageToken } from "./page-token.ts";

const signer = await TestTokenSigner.create();
const minute = 29_921_040;
const now = minute * 60;

/** A page of ranks 3 and 4 of a list of DE, with the token of it. */
async function signedPage(category: string | null = null, language?: string): Promise<TrendingPage> {
  const page = {
    ...pageOf({ generation: 7, offset: 2 }),
    region: "DE",
    window: "now",
    category,
    ...(language !== undefined && { language }),
  } as TrendingPage;
  const list = {
    region: "DE",
    window: "now",
    category: language === undefined ? await named(category) : `#language:${language}`,
    generation: 7,
    offset: 2,
    count: 2,
  } as const;
  return { ...page, token: await signer.sign(claimsOf(list, minute)) };
}

async function named(category: string | null): Promise<string> {
  if (category === null || category.length < 50) return category ?? "";
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(category));
  return `#${new Uint8Array(digest).toBase64({ alphabet: "base64url" }).slice(0, 22)}`;
}

const verify = (page: TrendingPage, at = now) => verifyPageToken(page, signer.publicKeys, at);

test.each([[null], ["News & Politics"], ["Ж".repeat(60)]])(
  "the token of a page of category %p is accepted",
  async (category) => {
    await verify(await signedPage(category));
  },
);

test("the token of the list of a language is accepted with that language alone", async () => {
  const page = await signedPage(null, "de");
  await verify(page);
  const { language: _, ...all } = page;
  for (const other of [
    all,
    { ...page, language: "en" },
    { ...page, category: "Music" },
    { ...all, category: "#language:de" },
  ]) {
    await expect(verify(other)).rejects.toMatchObject({ refusal: "other-list" });
  }
});

test.each<[string, Partial<TrendingPage>]>([
  ["another region", { region: "PL" }],
  ["another window", { window: "day" }],
  ["another category", { category: "Music" }],
  ["a language", { language: "de" }],
  ["another generation", { generation: 8 }],
  ["other ranks", { items: pageOf({ offset: 0 }).items }],
])("the token is refused on a page of %s", async (_, replaced) => {
  expect(verify({ ...(await signedPage()), ...replaced })).rejects.toMatchObject({ refusal: "other-list" });
});

test("a page without one of its items, because its video was removed, is still the token's", async () => {
  const page = await signedPage();
  await verify({ ...page, items: page.items.slice(1) });
});

test("the token is refused after 15 minutes, and when it was changed", async () => {
  const page = await signedPage();
  await expect(verify(page, now + 901)).rejects.toMatchObject({ refusal: "expired" });
  const token = page.token.replace(/.(?=.{20}$)/, (letter) => (letter === "A" ? "B" : "A"));
  await expect(verify({ ...page, token })).rejects.toMatchObject({ refusal: "tampered" });
});
