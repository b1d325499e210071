import assert from "node:assert/strict";
import { createPrivateKey, generateKeyPairSync, sign } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { viewsAcceptedSeconds } from "@trendvault/contract/lists";
import { viewSchemas } from "@trendvault/contract/openapi";
import type { TokenList } from "@trendvault/contract/token";
import { keySet, tokenSigningKey } from "@trendvault/kit/keys";
import { Random } from "@trendvault/kit/random";
import { startTestStack, type TestStack } from "./test-stack.ts";
import { countedIn, counting, pull, pullAll, readList, send, signPullAt } from "./view-messages.ts";

const random = new Random();
const list = { region: "GB", window: "day" as const, category: "", generation: 1, offset: 0, count: 24 };
const now = () => Math.floor(Date.now() / 1000);

describe("a message about a list", () => {
  let stack: TestStack;
  let token: string;
  before(async () => {
    stack = await startTestStack(counting);
    token = (await readList(stack.edge, "/api/trending?region=GB")).token;
  });
  after(() => stack.close());

  test("adds an impression of each rank that was on screen, and a click on each that was opened", async () => {
    const { token, ids } = await readList(stack.edge, "/api/trending?region=ES");
    const response = await send(stack.edge, { token, seen: 4, opened: [2, 4] });
    assert.deepEqual([response.status, await response.text()], [204, ""]);
    assert.equal(response.headers.get("cache-control"), "no-store");
    assert.equal(response.headers.get("access-control-allow-origin"), "*");
    assert.equal(response.headers.get("set-cookie"), null);
    await send(stack.edge, { token, seen: 0, opened: [9] });
    const expected = [1, 2, 3, 4, 9].map((rank) => [
      rank,
      ids.get(rank),
      rank === 9 ? 0 : 1,
      [2, 4, 9].includes(rank) ? 1 : 0,
    ]);
    assert.deepEqual(await countedIn(stack.edge, "ES-0"), expected);
  });

  test("from one address clicks on a video once in an hour, whatever else of it counts", async () => {
    const { token, ids } = await readList(stack.edge, "/api/trending?region=NL");
    const address = (group: number) => ({ "cf-connecting-ip": `2001:db8:7:${group}::1` }); // of one network
    for (let group = 1; group <= 5; group++)
      await send(stack.edge, { token, seen: 2, opened: [1] }, address(group));
    const [first, second] = await countedIn(stack.edge, "NL-0");
    assert.deepEqual(
      [first?.slice(0, 3), second],
      [
        [1, ids.get(1), 5],
        [2, ids.get(2), 5, 0],
      ],
    );
    assert.ok([1, 2].includes(first?.[3] ?? 0)); // an hour may have begun meanwhile
  });

  test("of a further page counts its ranks, from 8 on, and of a category in its list", async () => {
    const first = await stack.edge.fetch("/api/trending?region=IT&limit=7&category=Music");
    const { next } = (await first.json()) as { next: string };
    const { token, ids } = await readList(stack.edge, next);
    assert.equal((await send(stack.edge, { token, seen: 9, opened: [9] })).status, 204);
    assert.deepEqual(await countedIn(stack.edge, "IT-0"), [
      [8, ids.get(8), 1, 0],
      [9, ids.get(9), 1, 1],
    ]);
    const [row] = await stack.edge.query<{ category: string }>("IT-0", "SELECT category FROM looks");
    assert.equal(row?.category, "Music");
  });

  test("is taken as JSON too, which a page has to ask for before", async () => {
    const preflight = await stack.edge.fetch("/api/views", {
      method: "OPTIONS",
      headers: {
        origin: "https://site.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type",
      },
    });
    assert.equal(preflight.status, 204);
    assert.equal(preflight.headers.get("access-control-allow-origin"), "*");
    assert.match(preflight.headers.get("access-control-allow-methods") ?? "", /POST/);
    assert.match(preflight.headers.get("access-control-allow-headers") ?? "", /content-type/i);
    const json = { "content-type": "application/json" };
    assert.equal((await send(stack.edge, { token, seen: 1, opened: [] }, json)).status, 204);
  });

  const refused: [string, (token: string) => object | string | Uint8Array, number, string][] = [
    ["that is no JSON", () => "{", 400, "invalid-message"],
    ["that is not UTF-8", () => new Uint8Array([0x22, 0xff, 0x22]), 400, "invalid-message"],
    ["that saw a rank past the page", (token) => ({ token, seen: 25, opened: [] }), 400, "invalid-message"],
    ["of 2049 bytes", (token) => JSON.stringify({ token }).padEnd(2049), 413, "content-too-large"],
    [
      "with the token of another origin",
      () => ({ token: signForeignToken(list, now()), seen: 1, opened: [] }),
      403,
      "token-refused",
    ],
    [
      "with a token of too long ago",
      () => ({ token: signToken(list, now() - viewsAcceptedSeconds - 61), seen: 1, opened: [] }),
      403,
      "token-refused",
    ],
    [
      "about a generation that is gone",
      () => ({ token: signToken({ ...list, generation: 999 }, now()), seen: 1, opened: [] }),
      403,
      "token-refused",
    ],
  ];
  for (const [name, make, status, kind] of refused) {
    test(`${name} is refused`, async () => {
      const before = await countedIn(stack.edge, "GB-0");
      const response = await send(stack.edge, make(token));
      const problem = (await response.json()) as { type: string };
      assert.deepEqual([response.status, problem.type], [status, `/problems/${kind}`]);
      assert.equal(response.headers.get("cache-control"), "no-store");
      assert.deepEqual(await countedIn(stack.edge, "GB-0"), before);
    });
  }

  test("of another method, type or with parameters is refused", async () => {
    for (const method of ["GET", "HEAD", "PUT", "DELETE"]) {
      const response = await stack.edge.fetch("/api/views", { method });
      assert.deepEqual([response.status, response.headers.get("allow")], [405, "POST, OPTIONS"], method);
    }
    for (const type of ["text/html", "application/x-www-form-urlencoded", "text/plainer", ""]) {
      const response = await send(stack.edge, { token, seen: 1, opened: [] }, { "content-type": type });
      assert.equal(response.status, 415, type);
    }
    const body = JSON.stringify({ token, seen: 1, opened: [] });
    const headers = { "content-type": "text/plain" };
    assert.equal((await stack.edge.fetch("/api/views?x=1", { method: "POST", headers, body })).status, 400);
  });

  test("is taken until half an hour after the edge may have served its list, and counts in its own region", async () => {
    const before = await countedIn(stack.edge, "GB-0");
    const old = signToken({ ...list, region: "SE" }, now() - viewsAcceptedSeconds + 120); // a minute is whole
    assert.equal((await send(stack.edge, { token: old, seen: 2, opened: [] })).status, 204);
    assert.equal((await countedIn(stack.edge, "SE-0")).length, 2);
    assert.deepEqual(await countedIn(stack.edge, "GB-0"), before);
  });

  test(`is counted exactly, with many at once (TEST_SEED=${random.seed})`, async () => {
    const { token, ids } = await readList(stack.edge, "/api/trending?region=PL&window=week");
    const messages = Array.from({ length: 400 }, () => {
      const seen = random.below(25);
      const reach = seen === 0 ? 24 : seen;
      const opened = [...new Set(Array.from({ length: random.below(4) }, () => 1 + random.below(reach)))];
      return { token, seen, opened: seen === 0 && opened.length === 0 ? [1] : opened };
    });
    const responses: Response[] = [];
    for (let at = 0; at < messages.length; at += 40) {
      const group = messages.slice(at, at + 40).map((message) => send(stack.edge, message));
      responses.push(...(await Promise.all(group)));
    }
    // On a busy machine some wait for longer than 5 s, and nobody knows whether those are counted.
    const answeredWith = (status: number) =>
      messages.filter((_, index) => responses[index]?.status === status);
    const [taken, unsure] = [answeredWith(204), answeredWith(503)];
    assert.deepEqual([taken.length + unsure.length, taken.length > 0], [messages.length, true]);
    const counted = await countedIn(stack.edge, "PL-0");
    assert.deepEqual(
      counted.map(([rank, id]) => [rank, id]),
      [...ids],
    );
    const isPossible = (count: number, isCounted: (message: (typeof messages)[number]) => boolean) => {
      const least = taken.filter(isCounted).length;
      return count >= least && count <= least + unsure.filter(isCounted).length;
    };
    for (const [rank, , impressions, clicks] of counted) {
      const seemsRight = [
        isPossible(impressions, ({ seen }) => seen >= rank),
        clicks > 0 || !taken.some(({ opened }) => opened.includes(rank)),
        clicks <= messages.filter(({ opened }) => opened.includes(rank)).length, // some share a cell of senders
      ];
      assert.deepEqual(
        seemsRight,
        [true, true, true],
        `rank ${rank}: ${impressions} impressions, ${clicks} clicks`,
      );
    }
  });

  test("is nothing that anything is written about: no shard holds more than counts, and the log holds none", async () => {
    const tables = await stack.edge.query<{ name: string }>(
      "GB-0",
      "SELECT name FROM sqlite_schema WHERE type = 'table'",
    );
    const own = tables.map(({ name }) => name).filter((name) => !name.startsWith("_")); // the others are workerd's
    assert.deepEqual(own.sort(), ["looks", "marks", "served"]);
    const rows = await stack.edge.query("PL-0", "SELECT * FROM looks");
    assert.doesNotMatch(JSON.stringify(rows), /192\.0\.2/);
    assert.deepEqual(
      stack.edge.logs().filter((line) => /192\.0\.2|eyJ/.test(line)),
      [],
    );
  });
});

describe("an edge without VIEWS_KEYS", () => {
  let stack: TestStack;
  before(async () => {
    stack = await startTestStack();
  });
  after(() => stack.close());

  test("has no such paths", async () => {
    const { token } = await readList(stack.edge, "/api/trending?region=GB");
    assert.equal((await send(stack.edge, { token, seen: 1, opened: [] })).status, 404);
    for (const path of ["/api/views", "/api/views/minutes?shard=GB-0", "/api/views/shards"]) {
      assert.equal((await stack.edge.fetch(path)).status, 404, path);
    }
  });
});

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
      for (const page of pages) viewSchemas.ViewMinutes.parse(page);
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
    const page = viewSchemas.ViewMinutes.parse(await idle.json());
    assert.deepEqual([page.looks, page.until], [[], page.last_closed]);
    assert.ok(Math.abs(page.last_closed - (thisMinute() - 1)) <= 1);
  });
});

const pkcs8Prefix = Buffer.from("302e020100300506032b657004220420", "hex"); // RFC 8410
const originKey = createPrivateKey({
  key: Buffer.concat([pkcs8Prefix, Buffer.from(tokenSigningKey, "base64url")]),
  format: "der",
  type: "pkcs8",
});
const { kid: originKid } = JSON.parse(keySet).keys.find(
  (key: { purpose?: string }) => key.purpose === "tokens",
);

/** A token as the origin signs it. */
function signToken(list: TokenList, issuedAt: number, key = originKey): string {
  const minute = issuedAt - (issuedAt % 60);
  const header = { alg: "EdDSA", kid: originKid, typ: "tv+jwt" };
  const { region, window, category, generation, offset, count } = list;
  const sub = `${region}/${window}/${category}/${generation}/${offset}+${count}`;
  const payload = { iat: minute, exp: minute + 900, sub };
  const input = [header, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  return `${input}.${sign(null, Buffer.from(input), key).toString("base64url")}`;
}

/** The same as another origin signs it, with a key of its own. */
function signForeignToken(list: TokenList, issuedAt: number): string {
  return signToken(list, issuedAt, generateKeyPairSync("ed25519").privateKey);
}
