import { expect, test } from "bun:test";
import type { TokenList } from "@trendvault/contract/token";
import type { EdgeServices } from "../cache/edge-services.ts";
import type { StoredResponse } from "../origin/stored-response.ts";
import { listInTokens } from "../rules/list-in-tokens.ts";
import { ListBlocks } from "./list-blocks.ts";

const now = 1_795_176_000;
const context = { waitUntil: () => {}, allowOriginFetch: async () => true };
const list: TokenList = { region: "GB", window: "day", category: "", generation: 7, offset: 24, count: 24 };
const body = JSON.stringify({
  items: [
    { rank: 51, id: "a" },
    { rank: 53, id: "c" },
  ],
});

/** An edge whose caches hold these targets; the origin is not asked. */
function edgeWith(stored: Record<string, Partial<StoredResponse>>): ListBlocks {
  const lifetimes = { maxAge: 120, staleWhileRevalidate: 600, staleIfError: 0 };
  const match = async (target: string) =>
    target in stored
      ? { target, status: 200, generatedAt: now, fetchedAt: now, lifetimes, ...stored[target] }
      : null;
  const fails = { kind: "failure", status: null, fallback: null };
  const revalidator = {
    recentFailure: () => null,
    revalidate: async () => ({ result: fails, collapsed: false }),
    revalidateInBackground: () => {},
  };
  return new ListBlocks({ cache: { match }, revalidator, clock: () => now } as unknown as EdgeServices);
}

const block = "/api/trending?region=GB&limit=50&cursor=7-50";

test("the ranks of a block come from the pinned page of 50, without those of removed videos", async () => {
  const read = await edgeWith({ [block]: { body } }).read(list, 1, context);
  expect(read).toEqual(
    new Map([
      [51, "a"],
      [53, "c"],
    ]),
  );
});

test("a page that is too old to be served still says which ranks its generation had", async () => {
  const fetchedAt = now - 80_000;
  expect(await edgeWith({ [block]: { body, fetchedAt } }).read(list, 1, context)).toBeInstanceOf(Map);
});

test("a list that nobody has now is not known, and one of a deleted generation is gone", async () => {
  const published = { generation: 99, oldest_generation: 90, categories: [] };
  const regions = { "/api/regions": { body: JSON.stringify(published) } };
  expect(await edgeWith({}).read(list, 1, context)).toBeNull();
  expect(await edgeWith(regions).read(list, 1, context)).toBe("gone");
});

test("a category whose token has a hash is found among the published ones", async () => {
  const name = "ä".repeat(60);
  const published = { generation: 7, oldest_generation: 1, categories: ["Music", name] };
  const target = `/api/trending?region=GB&category=${encodeURIComponent(name)}&limit=50&cursor=7-50`;
  const edge = edgeWith({ "/api/regions": { body: JSON.stringify(published) }, [target]: { body } });
  const category = await listInTokens({ category: name });
  expect(category).toMatch(/^#/);
  expect(await edge.read({ ...list, category }, 1, context)).toBeInstanceOf(Map);
  expect(await edge.read({ ...list, category: "#unknown" }, 1, context)).toBeNull();
});

test("the list of a language is read as such, and one of a category that is called like it is not", async () => {
  const target = "/api/trending?region=GB&language=de&limit=50&cursor=7-50";
  const name = "#language:de";
  const published = { generation: 7, oldest_generation: 1, categories: [name] };
  const edge = edgeWith({ "/api/regions": { body: JSON.stringify(published) }, [target]: { body } });
  expect(
    await edge.read({ ...list, category: await listInTokens({ language: "de" }) }, 1, context),
  ).toBeInstanceOf(Map);
  expect(
    await edge.read({ ...list, category: await listInTokens({ category: name }) }, 1, context),
  ).toBeNull();
});
