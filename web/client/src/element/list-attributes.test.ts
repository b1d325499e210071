import { expect, test } from "bun:test";
import { readAttributes } from "./list-attributes.ts";

const read = (attributes: Record<string, string>, defaultSrc = "") =>
  readAttributes((name) => attributes[name] ?? null, { pageUrl: "https://partner.example/page", defaultSrc });

test("without attributes it is the list of the visitor's region, of the page's own site", () => {
  expect(read({})).toEqual({
    src: "",
    path: "/api/trending?fields=chart&limit=10",
    thumbHosts: null,
    ownHost: "partner.example",
  });
});

test("attributes name the list, in the order of its canonical address", () => {
  const attributes = { limit: "5", category: "News & Politics", region: "PL", window: "now", fields: "" };
  expect(read(attributes).path).toBe("/api/trending?region=PL&window=now&category=News+%26+Politics&limit=5");
});

test("an attribute names the language of the videos", () => {
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
