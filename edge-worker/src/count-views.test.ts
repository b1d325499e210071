import { beforeEach, describe, expect, test } from "bun:test";
import { claimsOf, type TokenList } from "@trendvault/contract/token";
import type { ViewMessage } from "@trendvault/contract/views";
import { drawsOf, Random } from "@trendvault/kit/random";
import { TestTokenSigner } from "@trendvault/kit/signers";
import { TieredCache } from "./cache.ts";
import { countViews, ListBlocks, TokenVerifier } from "./count-views.ts";
import { listInTokens } from "./document-signer.ts";
import { Backoff } from "./document-source.ts";
import type { Increments } from "./minute-counts.ts";
import { ReadThroughCache } from "./read-through.ts";
import type { StoredResponse } from "./signed-answer.ts";
import { IncrementBatches } from "./view-shards.ts";

const random = new Random();
const now = 1_795_176_000;
const list: TokenList = { region: "GB", window: "now", category: "", generation: 7, offset: 48, count: 24 };
const signer = await TestTokenSigner.create();
const stranger = await TestTokenSigner.create();

let added: [string, Increments][];
let listsRead: number;
let pending: Promise<unknown>[];
let failing: boolean;
let full: boolean;

beforeEach(() => {
  added = [];
  listsRead = 0;
  pending = [];
  failing = false;
  full = false;
});

const context = {
  waitUntil: (work: Promise<unknown>) => void pending.push(work),
  allowOriginFetch: async () => true,
  network: "192.0.2.1",
};

function createServices(batchSeconds = 0) {
  const add = async (region: string, increments: Increments) => {
    if (failing) throw new Error("overloaded");
    added.push([region, increments]);
    const isRefused = ({ window }: { window: string }) => full && window === list.window;
    return increments.looks.flatMap((block, position) => (isRefused(block) ? [position] : []));
  };
  const read = async (_: TokenList, block: number) => {
    listsRead++;
    return new Map(Array.from({ length: 50 }, (_, n) => [block * 50 + n + 1, `video-${block * 50 + n + 1}`]));
  };
  return {
    verifier: new TokenVerifier(Promise.resolve(signer.publicKeys), () => now),
    lists: { read } as unknown as ListBlocks,
    batches: new IncrementBatches({ shards: { add }, batchSeconds, log: () => {} }),
  };
}

const sign = (of: TokenList = list, by = signer) => by.sign(claimsOf(of, now / 60));

function sumOf(increments: [string, Increments][]): Map<string, [number, number]> {
  const sums = new Map<string, [number, number]>();
  for (const [region, { looks }] of increments) {
    for (const { ranks, ...block } of looks) {
      for (const [rank, video, seen, opened] of ranks) {
        const key = JSON.stringify([region, { ...block }, rank, video]);
        const [knownImpressions, knownClicks] = sums.get(key) ?? [0, 0];
        sums.set(key, [knownImpressions + seen, knownClicks + opened]);
      }
    }
  }
  return sums;
}

test("a page over the edge of two blocks of 50 ranks counts in both", async () => {
  const message = { token: await sign(), seen: 52, opened: [50, 51] };
  expect(await countViews(message, context, createServices())).toEqual({ kind: "counted" });
  const [[region, { looks }]] = added as [[string, Increments]];
  expect(region).toBe("GB");
  expect(looks).toMatchObject([
    {
      block: 0,
      ranks: [
        [49, "video-49", 1, 0],
        [50, "video-50", 1, 1],
      ],
    },
    {
      block: 1,
      ranks: [
        [51, "video-51", 1, 1],
        [52, "video-52", 1, 0],
      ],
    },
  ]);
});

test(`messages that come at once are one call for each region, with the sums of all (TEST_SEED=${random.seed})`, async () => {
  const services = createServices(0.5);
  const lists = [
    list,
    { ...list, offset: 0 },
    { ...list, window: "day" as const },
    { ...list, region: "DE" },
  ];
  const tokens = await Promise.all(lists.map((one) => sign(one)));
  const expected = new Map<string, [number, number]>();
  const messages = Array.from({ length: drawsOf({ usual: 300, long: 5000 }) }, () => {
    const index = random.below(lists.length);
    const { region, window, category, generation, offset } = lists[index] as TokenList;
    const seen = offset + 1 + random.below(24);
    const opened = [...new Set([offset + 1 + random.below(seen - offset)])];
    for (let rank = offset + 1; rank <= seen; rank++) {
      const place = { window, category, generation, block: Math.floor((rank - 1) / 50) };
      const key = JSON.stringify([region, place, rank, `video-${rank}`]);
      const [impressions, clicks] = expected.get(key) ?? [0, 0];
      expected.set(key, [impressions + 1, clicks + (opened.includes(rank) ? 1 : 0)]);
    }
    return { token: tokens[index] as string, seen, opened };
  });
  const results = await Promise.all(messages.map((message) => countViews(message, context, services)));
  expect(new Set(results.map(({ kind }) => kind))).toEqual(new Set(["counted"]));
  expect(new Map([...sumOf(added)].toSorted())).toEqual(new Map([...expected].toSorted()));
  expect(added.length).toBeLessThanOrEqual(messages.length / 10);
});

test("nobody is told that a message was counted when the shard failed, and the next batch is another", async () => {
  const services = createServices();
  const message = { token: await sign(), seen: 50, opened: [] };
  failing = true;
  expect(await countViews(message, context, services)).toMatchObject({ kind: "not-counted" });
  failing = false;
  expect(await countViews(message, context, services)).toEqual({ kind: "counted" });
  expect(added).toHaveLength(1);
});

test("nobody is told that a message was counted when the shard had no room for its list, others are", async () => {
  const services = createServices(0.01);
  full = true;
  const ofFirst = { token: await sign(), seen: 50, opened: [] };
  const ofSecond = { token: await sign({ ...list, window: "day" }), seen: 50, opened: [] };
  const results = await Promise.all(
    [ofFirst, ofSecond, ofFirst].map((message) => countViews(message, context, services)),
  );
  expect(results.map(({ kind }) => kind)).toEqual(["not-counted", "counted", "not-counted"]);
});

test("of a list of which nothing is counted no sender is told, and no row is taken", async () => {
  const services = createServices();
  const read = async (_: TokenList, block: number) => new Map(block === 0 ? [] : [[51, "video-51"]]);
  const lists = { read } as unknown as ListBlocks;
  for (const [seen, opened] of [
    [50, [49]],
    [52, [52]],
  ] as const) {
    const message = { token: await sign(), seen, opened: [...opened] };
    expect(await countViews(message, context, { ...services, lists })).toEqual({ kind: "counted" });
  }
  const [[, { looks, senders }], ...more] = added as [[string, Increments]];
  expect(looks.map(({ ranks }) => ranks)).toEqual([[[51, "video-51", 1, 0]]]);
  expect([senders?.length, more]).toEqual([1, []]);
});

describe("junk", () => {
  test(`asks no shard and no list, however much comes (TEST_SEED=${random.seed})`, async () => {
    const services = createServices();
    const [good, foreign] = [await sign(), await sign(list, stranger)];
    const ofAnotherRegion = await sign({ ...list, region: "XX" });
    const change = (token: string) => {
      const at = random.below(token.length);
      const character = random.pick([..."aZ0-_."]);
      return token[at] === character ? "" : token.slice(0, at) + character + token.slice(at + 1);
    };
    const makers: (() => ViewMessage)[] = [
      () => ({ token: change(good), seen: 50, opened: [] }),
      () => ({ token: foreign, seen: 50, opened: [] }),
      () => ({ token: ofAnotherRegion, seen: 50, opened: [] }),
      () => ({ token: "x".repeat(random.below(401)), seen: 50, opened: [] }),
      () => ({ token: good, seen: random.pick([1, 48, 73, 500]), opened: [] }),
      () => ({ token: good, seen: 0, opened: [random.pick([1, 48, 73])] }),
    ];
    for (let draw = 0; draw < drawsOf({ usual: 2000, long: 50_000 }); draw++) {
      const { kind } = await countViews(random.pick(makers)(), context, services);
      expect(["token-refused", "invalid-message"]).toContain(kind);
    }
    expect([listsRead, added, pending]).toEqual([0, [], []]);
  });
});

const anyContext = { waitUntil: () => {}, allowOriginFetch: async () => true };
const dayList: TokenList = {
  region: "GB",
  window: "day",
  category: "",
  generation: 7,
  offset: 24,
  count: 24,
};
const body = JSON.stringify({
  items: [
    { rank: 51, id: "a" },
    { rank: 53, id: "c" },
    { rank: 54, id: "d", made_for_kids: true },
  ],
});

/** An edge whose caches hold these targets; the only source fails. */
function edgeWith(stored: Record<string, Partial<StoredResponse>>): ListBlocks {
  const lifetimes = { maxAge: 120, staleWhileRevalidate: 600, staleIfError: 0 };
  const match = async (target: string) =>
    target in stored
      ? ({
          target,
          status: 200,
          headers: { etag: '"a"' },
          generatedAt: now,
          fetchedAt: now,
          lifetimes,
          ...stored[target],
        } as StoredResponse)
      : null;
  const [log, clock] = [() => {}, () => now];
  const failing = {
    waitsUntil: null,
    read: async () => ({ kind: "failed", status: null, retryAfter: 0 }) as const,
  };
  const cache = new TieredCache({ match, put: async () => {} }, log);
  const options = { sources: [failing], timeoutSeconds: 1, kvFallback: null, clock, log };
  return new ListBlocks(new ReadThroughCache({ ...options, cache, backoff: new Backoff(5, () => 0.5) }));
}

const block = "/api/trending?region=GB&limit=50&cursor=7-50";

test("the ranks of a block come from the pinned page of 50, without those of removed videos and of what is made for kids", async () => {
  const read = await edgeWith({ [block]: { body } }).read(dayList, 1, anyContext);
  expect(read).toEqual(
    new Map([
      [51, "a"],
      [53, "c"],
    ]),
  );
});

test("a page that is too old to be served still says which ranks its generation had", async () => {
  const fetchedAt = now - 80_000;
  expect(await edgeWith({ [block]: { body, fetchedAt } }).read(dayList, 1, anyContext)).toBeInstanceOf(Map);
});

test("a list that nobody has now is not known, and one of a deleted generation is gone", async () => {
  const published = { generation: 99, oldest_generation: 90, categories: [] };
  const regions = { "/api/regions": { body: JSON.stringify(published) } };
  expect(await edgeWith({}).read(dayList, 1, anyContext)).toBeNull();
  expect(await edgeWith(regions).read(dayList, 1, anyContext)).toBe("gone");
});

test("a list that was published since the index was read is not gone", async () => {
  for (let generation = 1; generation < dayList.generation; generation++) {
    const published = { generation, oldest_generation: 1, categories: [] };
    const regions = { "/api/regions": { body: JSON.stringify(published) } };
    expect(await edgeWith(regions).read(dayList, 1, anyContext)).toBeNull();
  }
});

test("a category whose token has a hash is found among the published ones", async () => {
  const name = "ä".repeat(60);
  const published = { generation: 7, oldest_generation: 1, categories: ["Music", name] };
  const target = `/api/trending?region=GB&category=${encodeURIComponent(name)}&limit=50&cursor=7-50`;
  const edge = edgeWith({ "/api/regions": { body: JSON.stringify(published) }, [target]: { body } });
  const category = await listInTokens({ category: name });
  expect(category).toMatch(/^#/);
  expect(await edge.read({ ...dayList, category }, 1, anyContext)).toBeInstanceOf(Map);
  expect(await edge.read({ ...dayList, category: "#unknown" }, 1, anyContext)).toBeNull();
});

test("a list by kind is read as such, and one of a category that is called like it is not", async () => {
  const target = "/api/trending?region=GB&language=de&limit=50&cursor=7-50";
  const name = "#language:de";
  const published = { generation: 7, oldest_generation: 1, categories: [name] };
  const edge = edgeWith({ "/api/regions": { body: JSON.stringify(published) }, [target]: { body } });
  expect(
    await edge.read({ ...dayList, category: await listInTokens({ language: "de" }) }, 1, anyContext),
  ).toBeInstanceOf(Map);
  expect(
    await edge.read({ ...dayList, category: await listInTokens({ category: name }) }, 1, anyContext),
  ).toBeNull();
});
