import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ViewMinutes } from "@trendvault/contract/openapi";
import { Random } from "@trendvault/contract/test-support/random";
import { startTestStack, type TestStack } from "./test-stack.ts";
import { counting, pull, pullAll, readList, send, signPullAt } from "./view-messages.ts";

const random = new Random();
const minutes = "/api/views/minutes?shard=FR-0";
const thisMinute = () => Math.floor(Date.now() / 60_000);

describe("a pull of counts", () => {
  let stack: TestStack;
  before(async () => {
    stack = await startTestStack(counting);
    const begun = thisMinute(); // what is really counted comes in this minute, or in a later one
    const { token } = await readList(stack.edge, "/api/trending?region=FR");
    await send(stack.edge, { token, seen: 3, opened: [1] });
    await fill("FR-0", begun);
  });
  after(() => stack.close());

  /** Adds counts of the hours before a minute to a shard, as if they had been counted then. */
  async function fill(shard: string, begun: number): Promise<void> {
    const [looks, served]: unknown[][] = [[], []];
    for (let ago = 180; ago > 0; ago -= 1 + random.below(5)) {
      const blocks = 1 + random.below(5);
      for (let block = 0; block < blocks; block++) {
        const ranks = JSON.stringify([[block * 50 + 1, `fr-${block}`, 1 + random.below(9), 1]]);
        looks?.push([begun - ago, "day", "", 1, block, ranks]);
      }
      served?.push([begun - ago, "day", "", JSON.stringify([[0, 24, 1 + random.below(9)]])]);
    }
    const columns = (count: number) => Array.from({ length: count }, (_, n) => `value ->> ${n}`).join(", ");
    const insert = (table: string, count: number) =>
      `INSERT INTO ${table} SELECT ${columns(count)} FROM json_each(?)`;
    await stack.edge.query(shard, insert("looks", 6), JSON.stringify(looks));
    await stack.edge.query(shard, insert("served", 4), JSON.stringify(served));
  }

  test(`gives each row of the closed minutes once, in pages of any length (TEST_SEED=${random.seed})`, async () => {
    const [whole] = await pullAll(stack.edge, "FR-0", 10_000);
    assert.ok(whole !== undefined && whole.looks.length > 30);
    assert.ok(whole.looks.every(({ minute }) => minute <= whole.last_closed));
    for (const limit of [1, 7, 50]) {
      const pages = await pullAll(stack.edge, "FR-0", limit);
      for (const page of pages) ViewMinutes.parse(page);
      const isKnown = ({ minute }: { minute: number }) => minute <= whole.last_closed; // a minute may have closed
      assert.deepEqual(pages.flatMap(({ looks }) => looks).filter(isKnown), whole.looks);
      assert.deepEqual(pages.flatMap(({ served }) => served).filter(isKnown), whole.served);
    }
  });

  test("changes no count, and may be repeated", async () => {
    const rows = () => stack.edge.query("FR-0", "SELECT * FROM looks");
    const before = await rows();
    const fields = signPullAt(Math.floor(Date.now() / 1000), minutes);
    const ask = async () => (await stack.edge.fetch(minutes, { headers: { ...fields } })).text();
    const { looks } = JSON.parse(await ask());
    assert.deepEqual(JSON.parse(await ask()).looks.slice(0, looks.length), looks);
    assert.deepEqual(await rows(), before);
  });

  test("is for a signed request only", async () => {
    const now = Math.floor(Date.now() / 1000);
    const other = "/api/views/minutes?shard=DE-0";
    const refused: [string, Record<string, string>][] = [
      ["unsigned", {}],
      ["signed for another shard", { ...signPullAt(now, other) }],
      ["signed two minutes ago", { ...signPullAt(now - 120, minutes) }],
      ["signed for in two minutes", { ...signPullAt(now + 120, minutes) }],
    ];
    for (const [name, headers] of refused) {
      const response = await stack.edge.fetch(minutes, { headers });
      const { type } = (await response.json()) as { type: string };
      assert.deepEqual([response.status, type], [403, "/problems/pull-signature"], name);
    }
    for (const method of ["POST", "HEAD", "OPTIONS"]) {
      assert.equal((await stack.edge.fetch(minutes, { method })).status, 405, method);
    }
  });

  test("names a shard, and a cursor and a limit that there can be", async () => {
    const queries = [
      "",
      "?shard=GB",
      "?shard=XX-0",
      "?shard=GB-64",
      "?shard=GB-00",
      "?shard=GB-0&shard=GB-1",
    ];
    queries.push("?shard=GB-0&after=x", "?shard=GB-0&limit=0", "?shard=GB-0&limit=10001", "?shard=GB-0&x=1");
    for (const query of queries) {
      const response = await pull(stack.edge, `/api/views/minutes${query}`);
      const { type } = (await response.json()) as { type: string };
      assert.deepEqual([response.status, type], [400, "/problems/invalid-parameter"], query);
    }
  });

  test("lists the shards that counts are added to, and answers for others too", async () => {
    const response = await pull(stack.edge, "/api/views/shards");
    const { shards, kept_hours } = (await response.json()) as { shards: string[]; kept_hours: number };
    assert.ok(shards.includes("GB-0") && shards.includes("PL-0") && !shards.includes("GB-1"));
    assert.equal(kept_hours, 48);
    const idle = await pull(stack.edge, "/api/views/minutes?shard=GB-63");
    const page = ViewMinutes.parse(await idle.json());
    assert.deepEqual([page.looks, page.until], [[], page.last_closed]);
    assert.ok(Math.abs(page.last_closed - (thisMinute() - 1)) <= 1);
  });
});
