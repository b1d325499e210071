import { afterAll, afterEach, beforeAll, beforeEach, expect, mock, spyOn, test } from "bun:test";
import { windows } from "@trendvault/contract/lists";
import { regionCodes } from "@trendvault/contract/regions";
import { DatabaseBuilder, videos } from "../../test-support/database-builder.ts";
import { openTestOrigin, type TestOrigin } from "../../test-support/test-origin.ts";
import { until } from "../../test-support/until.ts";

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
  mock.restore();
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

/** Takes the builds of ordinary answers that are done at once: the next waits in its queue. */
async function spendBudget(): Promise<void> {
  await until(() => origin.cache.canBuildNow);
  spyOn(performance, "now").mockReturnValue(performance.now());
  const starts = Array.from({ length: 128 }, (_, page) => 2 * (page + 1));
  await Promise.all(starts.map((rank) => origin.ask(`/api/trending?limit=2&cursor=1-${rank}`)));
}

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
  await spendBudget();
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
