import { afterEach, beforeEach, expect, mock, spyOn, test } from "bun:test";
import { DatabaseBuilder, videos } from "../../test-support/database-builder.ts";
import { openTestOrigin, type TestOrigin } from "../../test-support/test-origin.ts";
import { until } from "../../test-support/until.ts";

let builder: DatabaseBuilder;
let origin: TestOrigin;

beforeEach(async () => {
  builder = new DatabaseBuilder();
  builder.publish([{ region: "GB", videos: videos(500) }]);
  origin = await openTestOrigin(builder.path);
});
afterEach(() => {
  mock.restore();
  origin.watcher.close();
  builder.remove();
});

function keptBytes(): number {
  return origin.cache.size.weight;
}

test("a flood of different valid queries keeps memory bounded and the ordinary page in it", async () => {
  let largest = 0;
  for (let limit = 1; limit <= 50; limit += 3) {
    const starts = Array.from({ length: Math.floor(499 / limit) }, (_, page) => (page + 1) * limit);
    const pages = starts.map((rank) => origin.ask(`/api/trending?limit=${limit}&cursor=1-${rank}`));
    for (const { status } of await Promise.all(pages)) expect(status).toBe(200);
    await origin.ask("/api/trending");
    largest = Math.max(largest, keptBytes());
  }
  expect(largest).toBeGreaterThan(4_000_000); // else nothing was kept, and this tests nothing
  expect(largest).toBeLessThan(10_000_000);
  const { urls, entries } = origin.cache.size;
  expect(urls).toBeLessThanOrEqual(entries); // else a URL would keep an evicted entry in memory
  expect((await origin.ask("/api/trending")).headers.get("server-timing")).toBeNull();
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
  for (let i = 0; i < 5000; i++) {
    await origin.handler.answer(new Request(`http://host${i}.test/api/trending`));
  }
  expect(origin.cache.size.urls).toBeGreaterThan(100);
  expect(origin.cache.size.urls).toBeLessThanOrEqual(4096);
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

/** Takes the builds that are done at once, of which there are no more while the clock stands still. */
async function spendBudget(): Promise<void> {
  await until(() => origin.cache.canBuildNow);
  spyOn(performance, "now").mockReturnValue(performance.now());
  const starts = Array.from({ length: 128 }, (_, page) => 3 * (page + 1));
  await Promise.all(starts.map((rank) => origin.ask(`/api/trending?limit=3&cursor=1-${rank}`)));
}

test("in a flood of different pages, what is in the cache is answered after every step of a build", async () => {
  await origin.ask("/api/trending");
  await spendBudget();
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
  const entry = origin.cache.lookUp(`http://origin.test${target}`);
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
  await spendBudget();
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
