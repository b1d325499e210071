import { expect, test } from "bun:test";
import { trendingPageExample } from "@trendvault/contract/examples";
import { Random } from "@trendvault/contract/test-support/random";
import { appealOf, visit } from "./visit.ts";

const random = new Random();
const next = () => random.next();
const now = Date.parse("2026-11-21T12:00:00Z");
const [item] = trendingPageExample.items;
if (item === undefined) throw new Error("the example has an item");

function pageOf(count: number, offset = 0) {
  const items = Array.from({ length: count }, (_, index) => ({
    ...item,
    id: `video${offset + index}`,
    rank: offset + index + 1,
  }));
  return { ...trendingPageExample, items: items as typeof trendingPageExample.items };
}

test(`a visitor tells ranks of the page only, and opens what was seen (seed ${random.seed})`, () => {
  for (let round = 0; round < 2000; round++) {
    const offset = 24 * random.below(3);
    const { seen, opened } = visit(pageOf(1 + random.below(24), offset), { random: next, now });
    expect(seen).toBeGreaterThan(offset);
    expect(seen).toBeLessThanOrEqual(offset + 24);
    for (const rank of opened) expect(rank > offset && rank <= seen).toBe(true);
    expect(new Set(opened).size).toBe(opened.length);
  }
});

test(`all look at the first rank, and fewer at every further one (seed ${random.seed})`, () => {
  const looks = new Array<number>(24).fill(0);
  for (let round = 0; round < 4000; round++) {
    const { seen } = visit(pageOf(24), { random: next, now });
    for (let rank = 1; rank <= seen; rank++) looks[rank - 1] = (looks[rank - 1] ?? 0) + 1;
  }
  expect(looks[0]).toBe(4000);
  for (let rank = 1; rank < 24; rank++) expect(looks[rank]).toBeLessThanOrEqual(looks[rank - 1] ?? 0);
  expect((looks[9] ?? 0) / 4000).toBeWithin(0.09, 0.17); // 10^-0.9 is 0.126
});

test("what appeals is the same for all visitors, and appeals less when it is older", () => {
  const at = (id: string, hours: number) =>
    appealOf(id, { published_at: new Date(now - hours * 3_600_000).toISOString(), now });
  expect(at("video1", 0)).toBe(at("video1", 0));
  expect(at("video1", 7)).toBeCloseTo(at("video1", 0) / 2);
  expect(at("video1", 0)).not.toBe(at("video2", 0));
});

test("a page without videos is visited without an error", () => {
  expect(visit(pageOf(0), { random: next, now })).toMatchObject({ opened: [] });
});
