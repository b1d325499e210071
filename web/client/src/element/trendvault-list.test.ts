import { expect, test } from "bun:test";
import { Random } from "@trendvault/kit/random";
import { readAttributes, refreshDelay } from "./trendvault-list.ts";

const read = (attributes: Record<string, string>, defaultSrc = "") =>
  readAttributes((name) => attributes[name] ?? null, { pageUrl: "https://partner.example/page", defaultSrc });

test("without attributes it is the list of the visitor's region, of the page's own site", () => {
  expect(read({})).toEqual({
    src: "",
    path: "/api/trending?fields=chart&limit=10",
    thumbHosts: null,
    ownHost: "partner.example",
    lang: null,
    reportUrl: null,
    verify: false,
  });
});

test("attributes name the list, in the order of its canonical address", () => {
  const attributes = { limit: "5", category: "News & Politics", region: "PL", window: "now", fields: "" };
  expect(read(attributes).path).toBe("/api/trending?region=PL&window=now&category=News+%26+Politics&limit=5");
});

test("an attribute names the language of the videos, or what else they have a list by", () => {
  expect(read({ duration: "long" }).path).toBe("/api/trending?duration=long&fields=chart&limit=10");
  expect(read({ language: "de", lang: "en" }).path).toBe("/api/trending?language=de&fields=chart&limit=10");
});

test("the server is that of `src`, else that of the script; its pictures are shown, or those of the hosts that are named", () => {
  expect(read({}, "https://edge.example")).toMatchObject({
    src: "https://edge.example",
    ownHost: "edge.example",
  });
  expect(read({ src: "https://other.example:8443/" }, "https://edge.example")).toMatchObject({
    src: "https://other.example:8443",
    ownHost: "other.example:8443",
  });
  expect(read({ "thumb-hosts": "a.example b.example:444" }).thumbHosts).toEqual([
    "a.example",
    "b.example:444",
  ]);
});

const fine = { freshSeconds: 30, failures: 0, retryAfterSeconds: null };

test.each([
  ["no sooner than a minute", fine, 0, 60],
  ["when the lifetime is over", { ...fine, freshSeconds: 120 }, 0, 120],
  ["up to a quarter later, at random", fine, 1, 75],
  ["twice as long after a failure", { ...fine, failures: 1 }, 0, 120],
  ["four times as long after two", { ...fine, failures: 2 }, 0, 240],
  ["after many failures every quarter of an hour", { ...fine, failures: 1000 }, 0, 900],
  ["not before the server wants it", { ...fine, failures: 1, retryAfterSeconds: 3600 }, 0, 3600],
])("it asks again %s", (_, history, random, seconds) => {
  expect(refreshDelay(history, random)).toBe(seconds);
});

const random = new Random();

test(`whatever fields say, it waits at least a minute, and no longer than a timer can (seed ${random.seed})`, () => {
  const drawn = () => random.pick([0, Number.NaN, Number.POSITIVE_INFINITY, -1, 2 ** random.below(1000)]);
  for (let round = 0; round < 1000; round++) {
    const retryAfterSeconds = random.pick([null, drawn()]);
    const history = { freshSeconds: drawn(), failures: random.below(2000), retryAfterSeconds };
    const seconds = refreshDelay(history, random.below(100) / 100);
    expect([seconds >= 60, seconds * 1000 < 2 ** 31], JSON.stringify(history)).toEqual([true, true]);
  }
});
