import { heapStats } from "bun:jsc";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { parseKeyRing } from "@trendvault/contract/keys";
import { EdgeSigner, edgeSignatureHeader } from "@trendvault/contract/request-signatures";
import { verifyToken } from "@trendvault/contract/token";
import { DatabaseBuilder, videos } from "@trendvault/kit/database";
import { RawClient } from "@trendvault/kit/load";
import {
  OriginForEachTest,
  openTestOrigin,
  type TestOrigin,
  testMinute,
  testTime,
} from "@trendvault/kit/origin";
import { drawsOf, Random, testSeed } from "@trendvault/kit/random";
import { type ReceivedHead, readHead } from "./request-head.ts";
import { splitTarget } from "./routes.ts";
import { HttpServer } from "./server.ts";

describe("a request", () => {
  const given = new OriginForEachTest();

  const open = () => given.open();

  // biome-ignore lint/suspicious/noExplicitAny: tests look into JSON of any shape
  async function json(response: Response): Promise<any> {
    return response.json();
  }

  test("the default page is the first 24 of GB's day list", async () => {
    given.builder.publish([{ region: "GB", videos: videos(30) }]);
    const body = await json(await (await open()).ask("/api/trending"));
    expect(body).toMatchObject({
      region: "GB",
      window: "day",
      category: null,
      generation: 1,
      count: 24,
      total: 30,
    });
    expect(body.generated_at).toBe("2026-11-20T10:40:00Z");
    expect(body.newest_observed_at).toBe("2026-11-20T10:39:00Z");
    expect(body.channel_limit).toEqual({ videos: 3, within_ranks: 24 });
    expect(body.items.map((item: { rank: number }) => item.rank)).toEqual(
      Array.from({ length: 24 }, (_, i) => i + 1),
    );
    expect(body.items[0]).toEqual({
      id: "video1",
      rank: 1,
      previous_rank: null,
      title: "Title of video1",
      channel: "Channel of video1",
      category: null,
      language: "en",
      published_at: "2026-11-19T10:40:00Z",
      duration_seconds: 212,
      score: 30001.2,
      expected_views: 300,
      velocity: { views_per_hour: 1250.1, previous_views_per_hour: 625, views: 5000 },
      thumbs: ["https://thumbs.example/video1/hq.webp", "https://thumbs.example/video1/sd.webp"],
      url: null,
    });
  });

  test("region, window and category each choose another list", async () => {
    given.builder.publish([
      { region: "GB", videos: videos(1, "gb-day") },
      { region: "DE", videos: videos(1, "de-day") },
      { region: "DE", window: "now", videos: videos(1, "de-now") },
      { region: "DE", category: "Film & Animation", videos: videos(1, "de-film") },
    ]);
    const origin = await open();
    const first = async (target: string) => (await json(await origin.ask(target))).items[0].id;
    expect(await first("/api/trending?region=de")).toBe("de-day1");
    expect(await first("/api/trending?region=DE&window=now")).toBe("de-now1");
    expect(await first("/api/trending?region=DE&category=Film+%26+Animation")).toBe("de-film1");
    expect(await first("/api/trending")).toBe("gb-day1");
  });

  test("the token verifies and names what was served", async () => {
    given.builder.publish([{ region: "DE", videos: videos(7) }]);
    const origin = await open();
    const { token } = await json(await origin.ask("/api/trending?region=DE"));
    const keys = await json(await origin.ask("/.well-known/jwks.json"));
    const issuedAt = testMinute * 60;
    expect(await verifyToken(token, keys, { now: issuedAt })).toEqual({
      verdict: "valid",
      claims: {
        issuedAt,
        expiresAt: issuedAt + 900,
        list: { region: "DE", window: "day", category: "", generation: 1, offset: 0, count: 7 },
      },
    });
  });

  test("pages follow `next` to the end of one generation while newer ones are published", async () => {
    given.builder.publish([{ region: "DE", videos: videos(120, "old") }]);
    const origin = await open();
    const seen: string[] = [];
    let target: string | null = "/api/trending?region=DE&limit=50";
    while (target !== null) {
      const response = await origin.ask(target);
      const body = await json(response);
      seen.push(...body.items.map((item: { id: string }) => item.id));
      expect(response.headers.get("link")).toBe(body.next === null ? null : `<${body.next}>; rel="next"`);
      target = body.next;
      given.builder.publish([{ region: "DE", videos: videos(120, `new${seen.length}-`) }]);
      origin.pass();
    }
    expect(seen).toEqual(videos(120, "old").map(({ id }) => id));
  });

  test("a cursor from a pruned generation is answered with 410 and where to start again", async () => {
    const old = given.builder.publish([{ region: "DE", videos: videos(30) }]);
    given.builder.publish([{ region: "DE", videos: videos(30) }]);
    const origin = await open();
    const { next } = await json(await origin.ask(`/api/trending?region=DE&window=day&cursor=${old}-24`));
    expect(next).toBeNull();
    given.builder.prune(old);
    given.builder.publish([]);
    origin.pass();
    const response = await origin.ask(`/api/trending?region=DE&limit=5&cursor=${old}-25`);
    expect(response.status).toBe(410);
    expect(await json(response)).toMatchObject({
      type: "/problems/generation-gone",
      restart: "/api/trending?region=DE&limit=5",
    });
  });

  test("a region without videos has an empty list that says so", async () => {
    given.builder.publish([{ region: "GB", videos: videos(1) }]);
    const body = await json(await (await open()).ask("/api/trending?region=PT"));
    expect(body).toMatchObject({ count: 0, total: 0, items: [], next: null, newest_observed_at: null });
  });

  test("an unknown category is refused with the categories there are", async () => {
    given.builder.publish([{ region: "DE", category: "Music", videos: videos(1) }]);
    const response = await (await open()).ask("/api/trending?category=Sport");
    expect(response.status).toBe(400);
    expect((await json(response)).invalid).toEqual([{ name: "category", detail: "expected one of Music" }]);
  });

  test("a cursor goes on in a category that is gone since; in one that never was there is no page", async () => {
    given.builder.publish([{ region: "GB", category: "Music", videos: videos(2) }]);
    given.builder.publish([{ region: "GB", videos: videos(2) }]);
    const { ask } = await open();
    const page = "/api/trending?limit=1&cursor=1-1";
    expect(await json(await ask(`${page}&category=Music`))).toMatchObject({ count: 1 });
    expect((await ask(`${page}&category=Nonsense`)).status).toBe(404);
    expect((await ask("/api/trending?limit=1&cursor=2-1&category=Nonsense")).status).toBe(400);
  });

  test("a second question mark belongs to a parameter's name, which is unknown then", async () => {
    given.builder.publish([]);
    expect((await (await open()).ask("/api/trending??region=DE")).status).toBe(400);
  });

  test("a bad parameter is a problem document that names what is allowed and quotes nothing", async () => {
    given.builder.publish([]);
    const response = await (await open()).ask("/api/trending?limit=9999&secret=hunter2");
    expect(response.status).toBe(400);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(response.headers.get("cache-control")).toBe("no-store");
    const text = await response.text();
    expect(text).toContain("expected a whole number from 1 to 50");
    expect(text).not.toContain("hunter2");
    expect(text).not.toContain("secret");
  });

  test("before the first generation the answer is 503 with Retry-After", async () => {
    const response = await (await open()).ask("/api/trending");
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("5");
  });

  test("an unchanged page is 304 for its entity tag, and says what renews a stored answer", async () => {
    given.builder.publish([{ region: "GB", videos: videos(3) }]);
    const origin = await open();
    const page = await origin.ask("/api/trending");
    const etag = page.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[A-Za-z0-9_-]{22}"$/);
    const again = await origin.ask("/api/trending", { headers: { "if-none-match": `"other", W/${etag}` } });
    expect(again.status).toBe(304);
    expect(await again.text()).toBe("");
    const forScripts = [
      "access-control-allow-origin",
      "access-control-expose-headers",
      "timing-allow-origin",
    ];
    const lifetimes = ["cache-control", "cdn-cache-control", "trendvault-cache-control"];
    const renewed = [...forScripts, ...lifetimes, "content-location", "etag", "vary"].sort();
    expect([...again.headers.keys()].sort()).toEqual(renewed);
    for (const name of renewed) expect(again.headers.get(name)).toBe(page.headers.get(name));
    expect((await origin.ask("/api/trending", { headers: { "if-none-match": '"other"' } })).status).toBe(200);
  });

  test("browsers and shared caches each get their lifetime", async () => {
    given.builder.publish([]);
    const { headers } = await (await open()).ask("/api/trending");
    expect(headers.get("cache-control")).toBe("public, max-age=30, stale-while-revalidate=60");
    expect(headers.get("cdn-cache-control")).toBe(
      "public, max-age=120, stale-while-revalidate=600, stale-if-error=86400",
    );
    expect(headers.get("vary")).toBe("Accept-Encoding");
  });

  test("the same query in the same minute is the same bytes; the next minute signs anew", async () => {
    given.builder.publish([{ region: "GB", videos: videos(3) }]);
    const origin = await open();
    const first = await (await origin.ask("/api/trending")).text();
    expect(await (await origin.ask("/api/trending?limit=24&region=gb")).text()).toBe(first);
    origin.pass(60_000);
    expect(await (await origin.ask("/api/trending")).text()).not.toBe(first);
  });

  test("other methods are refused with Allow, unknown paths are 404", async () => {
    given.builder.publish([]);
    const origin = await open();
    const refused = await origin.ask("/api/trending", { method: "POST", body: "{}" });
    expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
    expect((await origin.ask("/api/trending/")).status).toBe(404);
    expect((await origin.ask("/api/trending", { method: "OPTIONS" })).status).toBe(204);
  });
});

test("of requests nothing is kept but spellings of their targets", async () => {
  const builder = new DatabaseBuilder();
  builder.publish([{ region: "GB", videos: videos(3) }]);
  const testOrigin = await openTestOrigin(builder.path);
  const cookie = `Cookie: ${"c".repeat(15_000)}\r\n`;
  const fill = async (spelling: string, fields: string) => {
    for (let length = 0; length < 300; length++) {
      const target = `/api/trending?${"&".repeat(length)}limit=${spelling}`;
      const head = readHead(`GET ${target} HTTP/1.1\r\nHost: a\r\n${fields}\r\n`);
      await testOrigin.origin.answer(head as ReceivedHead);
    }
    Bun.gc(true);
    return heapStats().extraMemorySize + heapStats().heapSize;
  };
  const before = await fill("1", "");
  expect((await fill("2", cookie)) - before).toBeLessThan(600_000);
  testOrigin.watcher.close();
  builder.remove();
});

describe("the signature of the edge", () => {
  const EDGE_KEYS = `new:${"B".repeat(43)},old:${"C".repeat(43)}`;
  const target = "/api/trending?region=GB";
  const seconds = testTime / 1000;

  let builder: DatabaseBuilder;
  let origin: TestOrigin;

  beforeAll(async () => {
    builder = new DatabaseBuilder();
    builder.publish([{ region: "GB", videos: videos(3) }]);
    origin = await openTestOrigin(builder.path, { EDGE_KEYS });
  });
  afterAll(() => {
    origin.watcher.close();
    builder.remove();
  });

  const sign = (keys = EDGE_KEYS, at = seconds) => new EdgeSigner(parseKeyRing(keys)).sign(at);

  async function statusFor(signature: string | null, sent = target, method = "GET"): Promise<number> {
    const headers = signature === null ? {} : { [edgeSignatureHeader]: signature };
    return (await origin.ask(sent, { method, headers })).status;
  }

  test("what the edge sends in a minute is answered, whatever it asks, again and again", async () => {
    const signature = await sign();
    for (let i = 0; i < 3; i++) expect(await statusFor(signature)).toBe(200);
    expect(await statusFor(signature, "/api/regions")).toBe(200);
    expect(await statusFor(signature, target, "HEAD")).toBe(200);
    expect(await statusFor(signature, "/none")).toBe(404);
  });

  test.each([
    [`old:${"C".repeat(43)}`, 200],
    [`old:${"D".repeat(43)}`, 403],
    [`new:${"C".repeat(43)}`, 403],
    [`other:${"B".repeat(43)}`, 403],
  ])("both live keys are accepted under their ids, any other is not: %s", async (keys, status) => {
    expect(await statusFor(await sign(keys))).toBe(status);
  });

  test.each([
    [-2, 403],
    [-1, 200],
    [1, 200],
    [2, 403],
  ])("a signature of the minute %p is answered with %p", async (minutes, status) => {
    expect(await statusFor(await sign(EDGE_KEYS, seconds + minutes * 60))).toBe(status);
  });

  test("what was accepted is refused two minutes later, also when its answer is in the cache", async () => {
    const passing = await openTestOrigin(builder.path, { EDGE_KEYS });
    const headers = { [edgeSignatureHeader]: await sign() };
    const ask = async () => (await passing.ask(target, { headers })).status;
    expect([await ask(), await ask()]).toEqual([200, 200]);
    passing.pass(60_000);
    expect(await ask()).toBe(200);
    passing.pass(60_000);
    expect(await ask()).toBe(403);
    passing.watcher.close();
  });

  test("without one, everything is 403 but /healthz, also what is in the cache and what does not exist", async () => {
    expect(await statusFor(await sign())).toBe(200);
    for (const sent of [target, "/api/regions", "/openapi.json", "/.well-known/jwks.json", "/none"])
      expect(await statusFor(null, sent)).toBe(403);
    expect(await statusFor("v2.garbage")).toBe(403);
    expect(await statusFor(null, "/healthz")).toBe(200);
  });

  const random = new Random();
  const randomText = (length: number, letters: string) =>
    Array.from({ length }, () => random.pick([...letters])).join("");
  const base64url = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const printable = `${base64url}.,;:!"#$%&'()*+/<=>?@[]^\`{|}~\u00e9\u00ff`;

  const minute = Math.floor(seconds / 60);

  /** A signature in the right form that differs in what is given. */
  function forge(given: { minute?: number; key?: string; payload?: string }): string {
    const stamped = given.minute ?? minute;
    const hmac = createHmac("sha256", Buffer.from(given.key ?? "B".repeat(43), "base64url"));
    const payload = given.payload ?? `trendvault-edge\nv2\nnew\n${stamped}`;
    return `v2.new.${stamped}.${hmac.update(payload).digest("base64url")}`;
  }

  /** Kinds of wrong signatures; each is made from a right one. */
  const forgeries: Record<string, (right: string) => string> = {
    "random characters": () => randomText(1 + random.below(200), printable),
    "random characters of the right length": (right) => randomText(right.length, printable),
    "a right beginning and a random mac": (right) => right.slice(0, -43) + randomText(43, base64url),
    "another minute": () => forge({ minute: minute + random.pick([-1, 1]) * (2 + random.below(999_999)) }),
    "another minute beside the mac of this one": (right) =>
      right.replace(String(minute), String(minute + 1 + random.below(9))),
    "another key id": (right) =>
      right.replace("new", randomText(1 + random.below(16), base64url.slice(0, 52))),
    "the id of the other key": (right) => right.replace("new", "old"),
    "another key": () => forge({ key: `${randomText(42, base64url)}A` }),
    "the mac of another payload": () => forge({ payload: randomText(1 + random.below(60), printable) }),
    "the form of before": () =>
      `v1.new.${seconds}.${forge({ payload: `v1\nnew\n${seconds}\nGET\n${target}` }).slice(-43)}`,
    truncated: (right) => right.slice(0, 1 + random.below(right.length - 1)),
    "the end of it": (right) => right.slice(1 + random.below(right.length - 1)),
    longer: (right) => right + randomText(1 + random.below(20), base64url),
    repeated: (right) => right + random.pick([", ", ",", ".", ""]) + right,
    "one character changed": (right) => {
      const at = random.below(right.length);
      return right.slice(0, at) + random.pick([...printable]) + right.slice(at + 1);
    },
    "other case": (right) => (random.next() < 0.5 ? right.toUpperCase() : right.toLowerCase()),
    quoted: (right) => `"${right}"`,
  };

  test(`of signatures that are forged at random none is accepted (TEST_SEED=${testSeed})`, async () => {
    const right = await sign();
    const accepted: string[] = [];
    for (const [kind, make] of Object.entries(forgeries)) {
      for (let i = 0; i < drawsOf({ usual: 300, long: 20_000 }); i++) {
        const forged = make(right);
        if (forged !== right && (await statusFor(forged)) !== 403) accepted.push(`${kind}: ${forged}`);
      }
    }
    expect(accepted).toEqual([]);
    expect(await statusFor(right)).toBe(200);
  }, 1_200_000);

  const listen = () => {
    const { answer, answerFailure, answerBadHead } = origin.origin;
    return new HttpServer({ hostname: "127.0.0.1", port: 0, answer, answerFailure, answerBadHead });
  };

  test("on the wire the field's name may be in any case and the value may not, and only one field counts", async () => {
    const server = listen();
    const client = new RawClient(`http://127.0.0.1:${server.port}`);
    const right = await sign();
    const ask = async (headers: string) => (await client.get(target, headers)).status;
    expect(await ask(`X-Edge-SIGNATURE: ${right}\r\n`)).toBe(200);
    expect(await ask(`x-edge-signature: \t ${right} \r\n`)).toBe(200);
    for (const [first, second] of [
      [right, right],
      [right, "v2.garbage"],
      ["v2.garbage", right],
      ["", right],
    ]) {
      const status = await ask(`x-edge-signature: ${first}\r\nX-Edge-Signature: ${second}\r\n`);
      expect([first, second, status]).toEqual([first, second, 403]);
    }
    expect(await ask(`x-edge-signature: ${right.toUpperCase()}\r\n`)).toBe(403);
    for (const wrong of [`${right.slice(0, -1)}\u00e9`, `${right}A`, right.slice(0, -1), right.repeat(9)])
      expect(await ask(`x-edge-signature: ${wrong}\r\n`)).toBe(403);
    expect(await ask("x-edge-signature:\r\n")).toBe(403);
    expect(await ask(`x-edge-signature: ${right}\r\n`)).toBe(200);
    client.close();
    await server.stop();
  });

  test("what is no request is counted, too", async () => {
    const server = listen();
    const client = new RawClient(`http://127.0.0.1:${server.port}`);
    const counted = () => origin.origin.status().counters.requests;
    const { "none 400": bad = 0, "none 414": long = 0, "none 431": large = 0 } = counted();
    for (const [path, fields, status] of [
      ["/ /", "", 400],
      [`/${"a".repeat(20_000)}`, "", 414],
      ["/", `a: ${"a".repeat(20_000)}\r\n`, 431],
    ] as const)
      expect((await client.get(path, fields)).status).toBe(status);
    expect(counted()).toMatchObject({ "none 400": bad + 1, "none 414": long + 1, "none 431": large + 1 });
    await server.stop();
  });
});

test.each([
  ["/api/trending?region=DE", "/api/trending", "region=DE"],
  ["/", "/", ""],
  ["/a?b?c", "/a", "b?c"],
  ["//double/slash", "//double/slash", ""],
])("%p is path %p and query %p", (target, path, search) => {
  expect(splitTarget(target)).toEqual({ path, search });
});
