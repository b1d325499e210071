import { expect, test } from "bun:test";
import { regionCodes } from "@trendvault/contract/regions";
import { DatabaseBuilder } from "@trendvault/kit/database";
import { drawsOf, Random, testSeed } from "@trendvault/kit/random";
import { Store } from "./store.ts";

type Published = { id: number; publishedAt: number; codes: readonly string[] };

const writers = 4;

/** Writers that share the regions, and now and then hand one to another. */
class Writers {
  readonly kept: Published[] = [];
  readonly #random: Random;
  readonly #owners = new Map(regionCodes.map((code, index) => [code, index % (writers + 1)])); // the last has no database
  readonly #last = Array.from({ length: writers }, (_, writer) => writer * 10_000);

  constructor(random: Random) {
    this.#random = random;
  }

  publish(builder: DatabaseBuilder): void {
    const writer = this.#random.below(writers);
    const codes = regionCodes.filter((code) => this.#owners.get(code) === writer);
    const id = 256 * Math.ceil(((this.#last[writer] ?? 0) + 1) / 256) + writer;
    this.#last[writer] = id;
    const publishedAt = 1_795_171_200 + this.#random.below(1000);
    builder.publishRegions([], { codes, id, publishedAt });
    this.kept.push({ id, publishedAt, codes });
  }

  move(): void {
    const code = regionCodes[this.#random.below(regionCodes.length)] ?? "";
    const to = this.#random.below(writers);
    const from = this.#owners.get(code) ?? 0;
    this.#last[to] = Math.max(this.#last[to] ?? 0, this.#last[from] ?? 0);
    this.#owners.set(code, to);
  }

  prune(builder: DatabaseBuilder): void {
    const [oldest] = this.kept.splice(this.#random.below(this.kept.length), 1);
    if (oldest !== undefined) builder.prune(oldest.id);
  }
}

test(`a region has the newest generation that has it, whoever published it (seed ${testSeed})`, () => {
  const random = new Random();
  const builder = new DatabaseBuilder();
  const store = Store.open(builder.path);
  const published = new Writers(random);
  for (let draw = 0; draw < drawsOf({ usual: 200, long: 5000 }); draw++) {
    const choice = random.below(10);
    if (choice === 0) published.move();
    else if (choice < 4) published.prune(builder);
    else published.publish(builder);
    const generation = store.newestGeneration();
    const newest = regionCodes.map((code) =>
      published.kept
        .filter(({ codes }) => codes.includes(code))
        .sort(byId)
        .at(-1),
    );
    expect(regionCodes.map((code) => generation?.regions.get(code)?.id)).toEqual(
      newest.map((one) => one?.id),
    );
    const all = [...new Set(newest)].filter((one) => one !== undefined);
    expect(generation?.rankings.map(({ id }) => id) ?? []).toEqual(
      all.map(({ id }) => id).sort((a, b) => a - b),
    );
    expect(generation?.publishedAt).toBe(
      all.length === 0 ? undefined : Math.max(...all.map(({ publishedAt }) => publishedAt)),
    );
    expectOldest(generation?.regions ?? new Map(), published.kept);
  }
  store.close();
  builder.remove();
});

function expectOldest(regions: ReadonlyMap<string, { oldestId: number }>, kept: Published[]): void {
  for (const [code, { oldestId }] of regions) {
    expect(oldestId).toBe(Math.min(...kept.filter(({ codes }) => codes.includes(code)).map(({ id }) => id)));
  }
}

function byId(left: Published, right: Published): number {
  return left.id - right.id;
}
