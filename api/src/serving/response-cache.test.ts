import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { windows } from "@trendvault/contract/lists";
import { regionCodes } from "@trendvault/contract/regions";
import { DatabaseBuilder, videos } from "@trendvault/kit/database";
import { until } from "@trendvault/kit/machine";
import { openTestOrigin, type TestOrigin } from "@trendvault/kit/origin";
import { Random, testSeed } from "@trendvault/kit/random";
import { fixedContent, jsonBody } from "../resources/resource.ts";
import { BuildQueue, TwoQueueCache } from "./response-cache.ts";

function cacheOf(capacity: number, onceCapacity = 0) {
  let evictions = 0;
  const cache = new TwoQueueCache<{ weight: number }>({
    capacity,
    onceCapacity,
    weigh: ({ weight }) => weight,
    onEvict: () => evictions++,
  });
  const total = () => [...cache.values()].reduce((sum, { weight }) => sum + weight, 0);
  return { cache, total, evictions: () => evictions };
}

test.each([0, 10, 50])(
  `its weight stays bounded whatever is asked for, with %i of 100 for what was asked for once (seed ${testSeed})`,
  (once) => {
    const { cache, total } = cacheOf(100, once);
    const random = new Random();
    for (let i = 0; i < 20_000; i++) {
      const key = `key ${random.below(300)}`;
      const value = cache.get(key) ?? { weight: 0 };
      value.weight = 1 + random.below(20);
      cache.set(key, value);
      expect(total()).toBeLessThanOrEqual(100 + 20); // with the one that made the young generation full
      if (i % 100 === 0) cache.evictAll(({ weight }) => weight % 3 === 0);
    }
  },
);

test("what is looked up again and again survives the flood", () => {
  const { cache } = cacheOf(100);
  const hot = { weight: 1 };
  cache.set("hot", hot);
  for (let i = 0; i < 1000; i++) {
    cache.set(`cold ${i}`, { weight: 5 });
    expect(cache.get("hot")).toBe(hot);
  }
  expect(cache.get("cold 0")).toBeUndefined();
});

test("a flood of what is asked for once evicts nothing that was asked for twice, and is kept in a part of the bytes", () => {
  const { cache, total, evictions } = cacheOf(100, 10);
  const twice = Array.from({ length: 9 }, (_, index) => `twice ${index}`);
  for (const key of twice) cache.set(key, { weight: 5 });
  for (const key of twice.slice(-2)) cache.get(key);
  for (const key of twice.slice(0, -2)) cache.set(key, { weight: 5 }); // built again: it was not kept any more
  for (let i = 0; i < 5000; i++) cache.set(`once ${i}`, { weight: 3 });
  expect(twice.filter((key) => cache.get(key) === undefined)).toEqual([]);
  expect([total(), evictions()]).toEqual([9 * 5 + 3 * 3, 0]);
});

test("what the flood drove out is forgotten in the end", () => {
  const { cache } = cacheOf(100, 10);
  cache.set("early", { weight: 10 });
  for (let i = 0; i < 1001; i++) cache.set(`once ${i}`, { weight: 10 });
  cache.set("early", { weight: 10 });
  cache.set("late", { weight: 10 });
  expect(cache.get("early")).toBeUndefined();
});

test("what weighs more than the part for what was asked for once is kept beside it", () => {
  const { cache } = cacheOf(100, 10);
  const large = { weight: 11 };
  cache.set("large", large);
  for (let i = 0; i < 100; i++) cache.set(`once ${i}`, { weight: 10 });
  expect(cache.get("large")).toBe(large);
});

test("a value that became heavier counts with its new weight, and an eviction is reported", () => {
  const { cache, total, evictions } = cacheOf(100);
  const value = { weight: 1 };
  cache.set("key", value);
  value.weight = 40;
  cache.set("key", value);
  cache.set("key", value);
  expect([total(), evictions()]).toEqual([40, 0]);
  cache.set("other", { weight: 20 });
  expect(evictions()).toBe(1);
  expect([cache.evictAll(({ weight }) => weight === 40), total(), evictions()]).toEqual([40, 20, 2]);
});

describe("a flood", () => {
  let builder: DatabaseBuilder;
  let origin: TestOrigin;

  beforeEach(async () => {
    builder = new DatabaseBuilder();
    builder.publish([{ region: "GB", videos: videos(500) }]);
    origin = await openTestOrigin(builder.path);
  });
  afterEach(() => {
    origin.watcher.close();
    builder.remove();
  });

  function keptBytes(): number {
    return origin.cache.size.weight;
  }

  test("between two steps of a build there is a turn of the event loop without one", async () => {
    let turn = 0;
    const turns: number[] = [];
    const count = (): unknown => ++turn < 100 && setImmediate(count);
    const page = fixedContent(jsonBody("[]"));
    await origin.cache.build(
      {
        url: "/steps",
        route: "export",
        read: () => page,
        *readInSteps() {
          for (let step = 1; step <= 5; step++) {
            turns.push(turn);
            if (step === 1) count();
            yield;
          }
          return page;
        },
      },
      0,
    );
    const between = turns.slice(1).map((at, index) => at - (turns[index] ?? 0));
    expect(Math.min(...between)).toBeGreaterThanOrEqual(2);
  });

  test.each([
    { times: 1, least: 800_000, most: 1_100_000 },
    { times: 3, least: 4_000_000, most: 10_000_000 },
  ])(
    "a flood of different valid queries, each $times times, keeps memory bounded and the ordinary page in it",
    async ({ times, least, most }) => {
      let largest = 0;
      for (let limit = 1; limit <= 50; limit += 3) {
        const starts = Array.from({ length: Math.floor(499 / limit) }, (_, page) => (page + 1) * limit);
        for (let time = 0; time < times; time++) {
          const pages = starts.map((rank) => origin.ask(`/api/trending?limit=${limit}&cursor=1-${rank}`));
          for (const { status } of await Promise.all(pages)) expect(status).toBe(200);
        }
        await origin.ask("/api/trending");
        largest = Math.max(largest, keptBytes());
      }
      expect(largest).toBeGreaterThan(least); // else nothing was kept, and this tests nothing
      expect(largest).toBeLessThan(most);
      const { urls, entries } = origin.cache.size;
      expect(urls).toBeLessThanOrEqual(entries); // else a URL would keep an evicted entry in memory
      expect((await origin.ask("/api/trending")).headers.get("server-timing")).toBeNull();
    },
    60_000,
  );

  test("a script that weighs more than all pages evicts none of them, in whatever codings it is asked for", async () => {
    const targets = Array.from({ length: 49 }, (_, index) => `/api/trending?limit=${index + 1}`);
    for (let time = 0; time < 3; time++) for (const target of targets) await origin.ask(target);
    const [script = ""] =
      /\/assets\/swagger-ui-bundle-\w+\.js/.exec(await (await origin.ask("/docs")).text()) ?? [];
    for (const coding of ["identity", "br", "zstd", "gzip"]) {
      for (let time = 0; time < 3; time++) {
        const { headers } = await origin.ask(script, { headers: { "accept-encoding": coding } });
        expect(headers.has("server-timing")).toBe(time === 0);
      }
    }
    const again = await Promise.all(targets.map((target) => origin.ask(target)));
    expect(again.filter(({ headers }) => headers.has("server-timing"))).toEqual([]);
  });

  test("a flood of spellings of one query keeps the number of known URLs bounded", async () => {
    for (let i = 0; i < 5000; i++) {
      const response = await origin.ask(
        `/api/trending?limit=24${"&".repeat(i % 300)}&region=${i % 2 ? "gb" : "GB"}`,
        {
          headers: { "accept-encoding": `br;q=0.${i % 1000}` },
        },
      );
      if (response.status !== 200) throw new Error(await response.text());
    }
    expect(origin.cache.size.urls).toBeGreaterThan(100);
    expect(origin.cache.size.urls).toBeLessThanOrEqual(4096);
  });

  test("what was served most is built ahead first, and what was asked for once not at all", async () => {
    const times: Record<number, number> = { 7: 2, 8: 1, 9: 5, 10: 3 };
    for (const [limit, count] of Object.entries(times))
      for (let time = 0; time < count; time++) await origin.ask(`/api/trending?limit=${limit}`);
    const targets = (limit: number) => origin.cache.busiest(limit).map(({ resource }) => resource.url);
    expect(targets(9)).toEqual([9, 10, 7].map((limit) => expect.stringContaining(`limit=${limit}`)));
    expect(targets(2)).toHaveLength(2);
  });

  test("what is refused is not kept", async () => {
    for (let i = 0; i < 300; i++) {
      for (const target of [
        `/api/videos/none${i}`,
        `/api/trending?limit=${100 + i}`,
        `/api/trending?limit=1&cursor=${i + 9}-1`,
        `/api/trending?region=CZ&limit=${1 + (i % 50)}&cursor=1-${1 + (i % 50)}`,
      ]) {
        expect((await origin.ask(target)).status).toBeGreaterThanOrEqual(400);
      }
    }
    expect(origin.cache.size.entries).toBe(0);
    expect(origin.cache.size.urls).toBe(0);
  });

  test("in a flood of different pages, what is in the cache is answered after every step of a build", async () => {
    await origin.ask("/api/trending");
    let waiting = 0;
    for (let rank = 1; rank <= 40; rank++) {
      waiting++;
      void origin.ask(`/api/trending?limit=1&cursor=1-${rank}`).then(() => waiting--);
    }
    let turns = 0;
    let last = waiting;
    while (waiting > 0) {
      await new Promise(setImmediate); // here an event loop would answer
      turns++;
      expect((await origin.ask("/api/trending")).headers.get("server-timing")).toBeNull();
      expect(last - waiting).toBeLessThanOrEqual(1); // no two builds end in one turn
      last = waiting;
    }
    expect(turns).toBeGreaterThan(2 * 40); // reading, writing, coding
  });

  test("a page of a flood is compressed fast, and better when it is asked for again", async () => {
    const target = "/api/trending?limit=50&cursor=1-50";
    const ask = async () => {
      const response = await origin.ask(target, { headers: { "accept-encoding": "br" } });
      return { etag: response.headers.get("etag") ?? "", bytes: (await response.arrayBuffer()).byteLength };
    };
    const fast = await ask();
    expect(fast.etag).toEndWith('-br-fast"');
    await ask();
    origin.pass(20_000); // second 50 of the minute
    const entry = origin.cache.lookUp(target);
    await until(() => typeof entry?.prewarmedFor?.minute === "number");
    origin.pass(10_000);
    const small = await ask();
    expect(small.etag).toEndWith('-br"');
    expect(small.bytes).toBeLessThan(fast.bytes);
  });

  test("of a flood of ids that do not exist, a hundred answers a second are signed: the rest cost what they did", async () => {
    const ask = async (count: number) => {
      const asked = Array.from({ length: count }, (_, index) => origin.ask(`/api/videos/none${index}`));
      const responses = await Promise.all(asked);
      for (const { status } of responses) expect(status).toBe(404);
      return responses.filter(({ headers }) => headers.has("signature")).length;
    };
    expect(await ask(300)).toBe(100);
    origin.pass(1000);
    expect(await ask(50)).toBe(50);
  });

  test("more different answers than can wait at once are 503 with Retry-After, and then all is well again", async () => {
    const responses = await Promise.all(
      Array.from({ length: 700 }, (_, index) =>
        origin.ask(
          index < 499
            ? `/api/trending?limit=1&cursor=1-${index + 1}`
            : `/api/trending?limit=2&cursor=1-${(index - 498) * 2}`,
        ),
      ),
    );
    const busy = responses.filter(({ status }) => status === 503);
    expect(busy.length).toBe(700 - 512);
    expect(busy[0]?.headers.get("retry-after")).toBe("1");
    expect((await origin.ask("/api/trending?cursor=1-498&limit=2")).status).toBe(200);
  });
});

describe("large answers", () => {
  // An export is half a MB: what is small must not notice how many are asked for.

  let builder: DatabaseBuilder;
  let origin: TestOrigin;

  const ranks = 500;
  const codings = ["identity", "br", "zstd", "gzip"];
  const targets = regionCodes.flatMap((region) => [
    `/api/export/${region}.ndjson`,
    ...windows.map((window) => `/api/export/${region}.ndjson?window=${window}`),
  ]);

  beforeAll(() => {
    builder = new DatabaseBuilder();
    const title = "A title that is as long as those that people write, and then some more ".repeat(2);
    const seeds = videos(ranks).map((seed) => ({ ...seed, title: `${title}${seed.id}` }));
    builder.publish(
      regionCodes.flatMap((region) => windows.map((window) => ({ region, window, videos: seeds }))),
    );
  });
  beforeEach(async () => {
    origin = await openTestOrigin(builder.path);
  });
  afterEach(() => {
    origin.watcher.close();
  });
  afterAll(() => builder.remove());

  function ask(target: string, coding = "identity"): Promise<Response> {
    return origin.ask(target, { headers: { "accept-encoding": coding } });
  }

  /** Asks again when it is refused: eight wait at most. */
  async function askUntilBuilt(target: string, coding?: string): Promise<Response> {
    let response = await ask(target, coding);
    while (response.status === 503) {
      await new Promise(setImmediate);
      response = await ask(target, coding);
    }
    return response;
  }

  test("what all exports keep is bounded, and the ordinary page stays in the cache", async () => {
    await ask("/api/trending");
    let [largest, first] = [0, 0];
    for (const target of targets) {
      for (const coding of codings) {
        const response = await askUntilBuilt(target, coding);
        expect(response.status).toBe(200);
        largest = Math.max(largest, origin.cache.size.weight);
      }
      first ||= largest;
    }
    expect(largest).toBeGreaterThan(3 * first); // else nothing was kept, and this tests nothing
    expect(largest).toBeLessThan(6_000_000);
    const again = await ask("/api/trending");
    expect(again.headers.get("server-timing")).toBeNull();
  }, 1_200_000);

  test("an export is built once for all that wait, and served to the next without a build", async () => {
    const [target = ""] = targets;
    const responses = await Promise.all(Array.from({ length: 100 }, () => ask(target)));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    expect(origin.counters.builds).toBe(1);
    expect((await ask(target)).headers.get("server-timing")).toBeNull();
  });

  test("more than eight different exports at once are 503 with Retry-After, and then all is well again", async () => {
    const responses = await Promise.all(targets.map((target) => ask(target)));
    const refused = responses.filter(({ status }) => status === 503);
    expect(refused.length).toBe(targets.length - 8);
    expect(refused[0]?.headers.get("retry-after")).toBe("1");
    expect((await ask(targets.at(-1) ?? "")).status).toBe(200);
  });

  test("while exports are built, what is in the cache is answered after every step", async () => {
    await ask("/api/trending");
    let waiting = 8;
    for (const target of targets.slice(0, 8)) void ask(target, "gzip").then(() => waiting--);
    let turns = 0;
    for (; waiting > 0; turns++) {
      await new Promise(setImmediate); // here an event loop would answer
      expect((await ask("/api/trending")).headers.get("server-timing")).toBeNull();
    }
    expect(turns).toBeGreaterThan(8 * 18); // eight times three windows: five times a hundred ranks, then packed
  });

  test("what is small is built while exports wait", async () => {
    let waiting = 8;
    for (const target of targets.slice(0, 8)) void ask(target).then(() => waiting--);
    const small = await ask("/api/trending?limit=7");
    expect([small.status, waiting >= 7]).toEqual([200, true]);
  });

  test("with a new minute, an export is neither read, written nor compressed again", async () => {
    const [target = ""] = targets;
    const before = await ask(target, "br");
    const read = origin.lists.readListPage;
    origin.lists.readListPage = () => {
      throw new Error("the database is read");
    };
    origin.pass(60_000);
    const after = await ask(target, "br");
    origin.lists.readListPage = read;
    expect(after.status).toBe(200);
    expect(after.headers.get("etag")).toBe(before.headers.get("etag"));
    expect(await after.bytes()).toEqual(await before.bytes());
  });
});

// A turn of the event loop that comes when the test says so.
function manualTurns() {
  const turns: (() => void)[] = [];
  return { yieldTurn: () => new Promise<void>((resolve) => turns.push(resolve)), turns };
}

const pauses = { afterMs: 0, times: 2, longestMs: 20 };

test("jobs wait for a turn of the event loop, and for a pause after each", async () => {
  const { yieldTurn, turns } = manualTurns();
  const queue = new BuildQueue(10, { yieldTurn, pause: yieldTurn, pauses });
  const done: string[] = [];
  const jobs = ["a", "b", "c"].map((key) => queue.run(key, async () => void done.push(key)));
  const takeTurn = async () => {
    turns.shift()?.();
    await new Promise(setImmediate);
  };
  for (const expected of [["a"], ["a", "b"], ["a", "b", "c"]]) {
    expect(done).toEqual(expected.slice(0, -1));
    await takeTurn();
    expect(done).toEqual(expected);
    await takeTurn(); // the pause
  }
  await Promise.all(jobs);
  expect(turns).toEqual([]); // nobody waits for a pause after the last
});

/** The pauses that are made between jobs of so many milliseconds. */
async function pausesOf(options: { afterMs: number; times: number; longestMs: number }): Promise<number[]> {
  const busy = (milliseconds: number) => async () => {
    const end = performance.now() + milliseconds;
    while (performance.now() < end);
  };
  const made: number[] = [];
  const pause = async (milliseconds: number) => void made.push(milliseconds);
  const queue = new BuildQueue(100, { pause, pauses: options });
  await Promise.all([0, 5, 50, 0].map((milliseconds, key) => queue.run(`${key}`, busy(milliseconds))));
  return made;
}

test("the pause after a job is some times its time, within bounds", async () => {
  const made = await pausesOf(pauses);
  expect([made.length, made[2]]).toEqual([3, 20]);
  expect(made[0]).toBeGreaterThanOrEqual(1);
  expect(made[1]).toBeGreaterThanOrEqual(10);
  const longer = await pausesOf({ ...pauses, times: 6, longestMs: 250 });
  expect(longer[1]).toBeGreaterThanOrEqual(30);
  expect(longer[2]).toBe(250);
});

test("between jobs that are done soon there is no pause, between those that go on for long there is", async () => {
  expect(await pausesOf({ ...pauses, afterMs: Number.POSITIVE_INFINITY })).toEqual([]);
  expect((await pausesOf({ ...pauses, afterMs: 50 })).at(-1)).toBe(20);
});

test("requests for the same key share one job, also while it runs", async () => {
  const queue = new BuildQueue(10);
  const { promise, resolve } = Promise.withResolvers<number>();
  let runs = 0;
  const job = () => {
    runs++;
    return promise;
  };
  const first = queue.run("key", job);
  await new Promise(setImmediate);
  const second = queue.run("key", job);
  resolve(7);
  expect(await Promise.all([first, second])).toEqual([7, 7]);
  expect(runs).toBe(1);
  expect(await queue.run("key", async () => 8)).toBe(8);
});

test("too many are refused at once, and a failed job does not stop the others", async () => {
  const queue = new BuildQueue(2);
  const failing = queue.run("a", () => Promise.reject(new Error("broken")));
  const next = queue.run("b", async () => "fine");
  expect(queue.run("c", async () => "never")).toBeNull();
  await expect(failing).rejects.toThrow("broken");
  expect(await next).toBe("fine");
});
