import { expect, test } from "bun:test";
import type { KVNamespace } from "@cloudflare/workers-types";
import { edgeLifetimes } from "@trendvault/contract/lists";
import { Random } from "@trendvault/kit/random";
import { TestSigner } from "@trendvault/kit/signers";
import { KvFallback, LruMap, TieredCache } from "./cache.ts";
import type { CanonicalRequest } from "./policy.ts";
import type { StoredResponse } from "./signed-answer.ts";

const request: CanonicalRequest = {
  target: "/api/trending?region=DE",
  query: { region: "DE", window: "day", limit: 24 },
  regionFromCountry: true,
};
const signer = await TestSigner.create();
const created = 1_795_176_030;
const text = '{"region":"DE","generated_at":"2026-11-20T12:00:00Z"}';
const sign = (location: string, at = created) =>
  signer.sign(text, { created: at, location, lifetimes: edgeLifetimes.answer });
const good: StoredResponse = {
  target: request.target,
  status: 200,
  body: text,
  headers: await sign(request.target),
  generatedAt: Date.parse("2026-11-20T12:00:00Z") / 1000,
  fetchedAt: created,
  lifetimes: { maxAge: 120, staleWhileRevalidate: 600, staleIfError: 86_400 },
};

const random = new Random();
const clock = () => created + 20;

function read(stored: unknown): Promise<StoredResponse | null> {
  const store = { get: async () => stored } as unknown as KVNamespace;
  return new KvFallback(store, { intervalSeconds: 600, keys: signer.publicKeys, clock }).get(request);
}

test("what the origin has signed is read back", async () => {
  expect(await read(good)).toEqual(good);
  expect(await read(null)).toBeNull();
});

test("nothing is read that is not signed", async () => {
  const link = '<https://other.example/>; rel="next"';
  const lifetimes = { maxAge: 999_999, staleWhileRevalidate: 0, staleIfError: 0 };
  const changed = { headers: { ...good.headers, link }, lifetimes, generatedAt: 9e9, fetchedAt: 9e9 };
  expect(await read({ ...good, ...changed })).toEqual(good);
});

test.each([
  ["another body", { ...good, body: '{"region":"FR"}' }, "digest-differs"],
  ["no signature", { ...good, headers: { ...good.headers, signature: "" } }, "unsigned"],
  [
    "another region's page",
    { ...good, headers: await sign("/api/trending?region=FR") },
    "the answer to another request",
  ],
  ["another form", {}, "unsigned"],
  ["a page of the future", { ...good, headers: await sign(request.target, created + 81) }, "in the future"],
])("%s in KV is not served", async (_name, stored, reason) => {
  await expect(read(stored)).rejects.toThrow(reason);
});

/** Whether a page that was fetched now is written over what KV has. */
async function isWritten(stored: () => Promise<unknown>, response: StoredResponse): Promise<boolean> {
  let written = false;
  const put = async () => {
    written = true;
  };
  const store = { get: stored, put } as unknown as KVNamespace;
  const fallback = new KvFallback(store, { intervalSeconds: 600, keys: signer.publicKeys, clock });
  await fallback.putIfDue(request, response);
  return written;
}

test("a page is written again when the interval is over, of the same ranking too: it may be served for a day only", async () => {
  for (const [seconds, expected] of [
    [0, false],
    [599, false],
    [600, true],
  ] as const) {
    const response = { ...good, fetchedAt: created + seconds };
    expect([seconds, await isWritten(async () => good, response)]).toEqual([seconds, expected]);
  }
});

test("it is there for as long as it may be served", async () => {
  const options: unknown[] = [];
  const store = { get: async () => null, put: async (...args: unknown[]) => void options.push(args[2]) };
  const fallback = new KvFallback(store as unknown as KVNamespace, {
    intervalSeconds: 600,
    keys: signer.publicKeys,
    clock,
  });
  await fallback.putIfDue(request, good);
  expect(options).toEqual([{ expirationTtl: 86_520 }]);
});

test("a page is written again when the clock was set back since it was last", async () => {
  let written = 0;
  const store = { get: async () => null, put: async () => void written++ };
  const options = { intervalSeconds: 600, keys: signer.publicKeys, clock };
  const fallback = new KvFallback(store as unknown as KVNamespace, options);
  for (const fetchedAt of [created + 300, created + 301, created])
    await fallback.putIfDue(request, { ...good, fetchedAt });
  expect(written).toBe(2);
});

test(`whatever else is in KV, a page is written over it (TEST_SEED=${random.seed})`, async () => {
  const others: unknown[] = [{}, [], "text", 7, true, { ...good, headers: 7 }, { ...good, body: null }];
  for (let draw = 0; draw < 200; draw++) {
    const later = { fetchedAt: 9e12, generatedAt: 9e12 };
    const at = random.below(text.length);
    const body = text.slice(0, at) + random.pick(["", "x", "7"]) + text.slice(at + 1);
    const headers = Object.fromEntries(Object.entries(good.headers).filter(() => random.below(6) > 0));
    const changed = random.pick([
      { ...good, ...later, body: `${body} ` },
      { ...good, ...later, headers: { ...headers, signature: "" } },
      random.pick(others),
    ]);
    expect([changed, await isWritten(async () => changed, good)]).toEqual([changed, true]);
    const dated = { ...good, ...later }; // its page is genuine: only the times beside it are not
    expect(await isWritten(async () => dated, { ...good, fetchedAt: created + 600 })).toBe(true);
  }
  expect(await isWritten(() => Promise.reject(new SyntaxError("not JSON")), good)).toBe(true);
});

test("of the data centre's cache nothing of another form is served", async () => {
  const matched = (stored: unknown) => {
    const dataCentre = { match: async () => stored as StoredResponse, put: async () => {} };
    return new TieredCache(dataCentre, () => {}).match(request.target).catch(String);
  };
  const others: unknown[] = [undefined, null, true, "text", [7], ["text"], {}, { "": 7 }, { "": "text" }];
  const spoil = (whole: object, names = Object.keys(whole), values = others) =>
    names.flatMap((name) => values.map((value) => ({ ...whole, [name]: value })));
  const { body: _, ...rest } = good;
  const spoiled = [
    ...others,
    ...spoil(good, Object.keys(rest)),
    ...spoil(good, ["body"], [undefined, null, 7, {}]),
    ...spoil(good, ["bundle"], [null, "7"]),
    ...spoil(good, ["headers"], spoil(good.headers, ["etag"], [null, 7, "a\nb"])),
    ...spoil(good, ["lifetimes"], spoil(good.lifetimes)),
  ];
  for (const whole of [good, { ...good, bundle: 7 }]) expect(await matched(whole)).toEqual(whole);
  for (const stored of spoiled) expect([stored, await matched(stored)]).toEqual([stored, null]);
});

test("the entry that was used longest ago goes first", () => {
  const map = new LruMap<number>(2);
  map.set("a", 1);
  map.set("b", 2);
  map.get("a");
  map.set("c", 3);
  expect([map.get("a"), map.get("b"), map.get("c")]).toEqual([1, null, 3]);
});

test("replacing a value removes no other", () => {
  const map = new LruMap<number>(2);
  map.set("a", 1);
  map.set("b", 2);
  map.set("b", 3);
  expect([map.get("a"), map.get("b")]).toEqual([1, 3]);
});

test("where values are weighed, as many of the oldest go as make room", () => {
  const map = new LruMap<string>(10, ({ length }) => length);
  for (const value of ["aaaa", "bbbb", "cc"]) map.set(value[0] ?? "", value);
  map.set("b", "b");
  map.set("d", "dddddd");
  expect(["a", "b", "c", "d"].map((key) => map.get(key))).toEqual([null, "b", "cc", "dddddd"]);
  map.delete("d");
  map.set("e", "eeeeeee");
  expect(["b", "c", "e"].map((key) => map.get(key))).toEqual(["b", "cc", "eeeeeee"]);
  map.set("f", "f".repeat(11));
  expect(["b", "c", "e", "f"].map((key) => map.get(key))).toEqual([null, null, null, null]);
});
