import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { viewsAcceptedSeconds } from "@trendvault/contract/lists";
import { Random } from "@trendvault/contract/test-support/random";
import { startTestStack, type TestStack } from "./test-stack.ts";
import { countedIn, counting, readList, send } from "./view-messages.ts";
import { signForeignToken, signToken } from "./view-tokens.ts";

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

  test("adds a look at each rank that was on screen, and a view of each that was opened", async () => {
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
    ["with an unknown field", (token) => ({ token, seen: 1, opened: [], at: 1 }), 400, "invalid-message"],
    ["without a field", (token) => ({ token, seen: 1 }), 400, "invalid-message"],
    ["that saw a rank past the page", (token) => ({ token, seen: 25, opened: [] }), 400, "invalid-message"],
    ["that opened one", (token) => ({ token, seen: 0, opened: [25] }), 400, "invalid-message"],
    [
      "that opened what it has not seen",
      (token) => ({ token, seen: 1, opened: [2] }),
      400,
      "invalid-message",
    ],
    ["of 2049 bytes", (token) => JSON.stringify({ token }).padEnd(2049), 413, "content-too-large"],
    ["with a word for a token", () => ({ token: "word", seen: 1, opened: [] }), 403, "token-refused"],
    [
      "with the token of another origin",
      () => ({ token: signForeignToken(list, now()), seen: 1, opened: [] }),
      403,
      "token-refused",
    ],
    [
      "with a token of an unknown key",
      () => ({ token: signForeignToken(list, now(), "otherKey"), seen: 1, opened: [] }),
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
      "with a token of the future",
      () => ({ token: signToken(list, now() + 180), seen: 1, opened: [] }),
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

  test("is taken until half an hour after the edge may have served its list, and counts in its own market", async () => {
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
    for (const [rank, , looks, views] of counted) {
      const seemsRight = [
        isPossible(looks, ({ seen }) => seen >= rank),
        isPossible(views, ({ opened }) => opened.includes(rank)),
      ];
      assert.deepEqual(seemsRight, [true, true], `rank ${rank}: ${looks} looks, ${views} views`);
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
