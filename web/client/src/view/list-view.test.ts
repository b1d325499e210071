import { expect, test } from "bun:test";
import { examples } from "@trendvault/contract/examples";
import { pageLanguages } from "@trendvault/contract/page";
import { hostileText, Random } from "@trendvault/kit/random";
import { Window } from "happy-dom";
import { toDom } from "./dom.ts";
import { type List, type ListOptions, listView } from "./list-view.ts";
import { allMessages } from "./locales/all.ts";
import { formatsOf } from "./locales/locale.ts";
import { toHtml } from "./nodes.ts";

const [example] = examples.trendingPage.items;
if (example === undefined) throw new Error("The example of a list has no item");

/** An item with some of it replaced. */
type ListItem = List["items"][number];

function itemWith(replaced: Partial<ListItem> = {}): ListItem {
  const sparkline = Array.from({ length: 24 }, (_, hour) => (hour % 7 === 3 ? null : hour * hour));
  return {
    ...(example as ListItem),
    previous_rank: 4,
    url: "https://videos.example/1",
    sparkline,
    ...replaced,
  };
}

function listOf(items: ListItem[], replaced: Partial<List> = {}): List {
  const { region, window } = examples.trendingPage;
  return {
    region,
    window,
    score_unit: "views",
    previous_generated_at: "2026-11-21T09:00:00Z",
    items,
    ...replaced,
  };
}

const optionsInEnglish: ListOptions = {
  messages: allMessages.en,
  formats: formatsOf("en"),
  thumbHosts: ["img.example"],
};

const { document } = new Window() as unknown as globalThis.Window;
const show = (list: List) => toDom(listView(list, optionsInEnglish), document) as Element;
const textOf = (element: Element, selector: string) => element.querySelector(selector)?.textContent;

test("an item has its rank, title, channel, views an hour, and what it rests on", () => {
  const shown = show(listOf([itemWith()]));
  expect(textOf(shown, ".rank")).toBe("1");
  expect(textOf(shown, ".title a")).toBe("How a lighthouse works");
  expect(textOf(shown, ".channel")).toBe("Harbour Films");
  expect(textOf(shown, ".rate")).toBe("9,120 views an hour");
  expect(textOf(shown, ".explanation")).toBe("Next 24 hours: 182,341 views expected.Views so far: 104,233.");
});

test.each([
  [0, "0:00"],
  [59, "0:59"],
  [612, "10:12"],
  [3600, "1:00:00"],
  [36_065, "10:01:05"],
])("%d seconds are shown as %s", (duration_seconds, text) => {
  const shown = show(listOf([itemWith({ duration_seconds })])).querySelector(".duration");
  expect([shown?.textContent, shown?.getAttribute("datetime")]).toEqual([text, `PT${duration_seconds}S`]);
});

test("what is on air or will be says so in place of its duration", () => {
  const corner = (live?: "now" | "scheduled") =>
    textOf(show(listOf([itemWith({ duration_seconds: 60, live })])), ".duration");
  expect([corner("now"), corner("scheduled"), corner()]).toEqual(["Live", "Scheduled", "1:00"]);
});

test("nothing is shown of a duration that is not known", () => {
  const { duration_seconds: _, ...item } = itemWith();
  expect(show(listOf([item])).querySelector(".duration")).toBeNull();
});

test("nothing is said of views that nobody counted", () => {
  const velocity = { views: 0, views_per_hour: 0, previous_views_per_hour: null };
  const shown = show(listOf([itemWith({ velocity, sparkline: Array(24).fill(null) })]));
  expect(textOf(shown, ".figures")).toBe("");
  expect(textOf(shown, ".explanation")).toBe("");
  const clicked = show(listOf([itemWith({ velocity, expected_views: 12 })], { score_unit: "clicks" }));
  expect(textOf(clicked, ".explanation")).toBe("Next 24 hours: 12 clicks expected at this place.");
});

test.each([
  [{ rank: 1, previous_rank: 4 }, "▲3", "up 3"],
  [{ rank: 1200, previous_rank: 1 }, "▼1,199", "down 1,199"],
  [{ rank: 4, previous_rank: 4 }, "–", "unchanged"],
])("%o moved %s, which a screen reader says as %s", (ranks, sign, said) => {
  const [seen, heard] = show(listOf([itemWith(ranks)])).querySelector(".movement")?.children ?? [];
  expect([seen?.textContent, seen?.getAttribute("aria-hidden"), heard?.textContent]).toEqual([
    sign,
    "true",
    said,
  ]);
});

test("an item of a snippet has its rank, title and channel, and says neither how it moved nor why", () => {
  const { id, rank, title, channel, thumbs, url } = itemWith();
  const shown = show(listOf([{ id, rank, title, channel, thumbs, url }]));
  const texts = [".rank", ".title a", ".channel", ".explanation", ".figures"];
  expect(texts.map((selector) => textOf(shown, selector))).toEqual(["1", title, channel, "", ""]);
  expect(shown.querySelector(".movement")).toBeNull();
});

test("an item that was not in the list before is new, unless there was no list before", () => {
  const items = [itemWith({ previous_rank: null })];
  expect(textOf(show(listOf(items)), ".movement")).toBe("new");
  expect(show(listOf(items, { previous_generated_at: null })).querySelector(".movement")).toBeNull();
});

test.each([
  "https://other.example/1/hq.webp",
  "https://img.example:444/1/hq.webp",
  "https://img.example.evil.example/1.webp",
  "javascript:alert(1)",
  "ftp://img.example/1.webp",
  "data:image/svg+xml,%3Csvg%20xmlns='http://www.w3.org/2000/svg'/%3E",
  "",
])("in place of the thumbnail %p there is a picture of ours", (thumb) => {
  const shown = show(listOf([itemWith({ thumbs: [thumb, thumb] })]));
  expect(shown.querySelector("img")).toBeNull();
  expect(shown.querySelector("svg.placeholder")).not.toBeNull();
});

test.each([
  [["https://img.example/l", "https://img.example/s"], "https://img.example/s", "https://img.example/l 2x"],
  [
    ["https://img.example/l,", "https://img.example/s"],
    "https://img.example/s",
    "https://img.example/l%2C 2x",
  ],
  [["https://img.example/s", "https://img.example/s"], "https://img.example/s", null],
  [["https://other.example/l", "https://img.example/s"], "https://img.example/s", null],
  [["https://img.example/l", "https://other.example/s"], "https://img.example/l", null],
] as const)(
  "of the thumbnails %p dense screens show the larger one, if it may be shown",
  (thumbs, src, srcset) => {
    const image = show(listOf([itemWith({ thumbs: [...thumbs] })])).querySelector("img");
    expect([image?.getAttribute("src"), image?.getAttribute("srcset")]).toEqual([src, srcset]);
  },
);

test("a thumbnail takes its place before it is there, tells its host nothing, and only the first is loaded at once", () => {
  const [first, second] = show(listOf([itemWith(), itemWith({ rank: 2 })])).querySelectorAll("img");
  for (const image of [first, second]) {
    expect(image?.getAttribute("width")).toBe("160");
    expect(image?.getAttribute("referrerpolicy")).toBe("no-referrer");
  }
  expect([first?.getAttribute("loading"), second?.getAttribute("loading")]).toEqual([null, "lazy"]);
});

test("a title without a https address is no link, but for the demo's, which are on this machine", () => {
  const links = (url: string | null) => show(listOf([itemWith({ url })])).querySelector("a");
  expect(links("http://127.0.0.1:8790/watch/a")?.getAttribute("href")).toBe("http://127.0.0.1:8790/watch/a");
  for (const url of [
    null,
    "http://videos.example/1",
    "http://127.0.0.1.example/",
    "javascript:alert(1)",
    "//x.example",
  ]) {
    expect(links(url)).toBeNull();
  }
});

test("a title says its language, when that is not the list's", () => {
  const langOf = (language: string | undefined, title_language?: string) =>
    show(listOf([itemWith({ language, ...(title_language !== undefined && { title_language }) })]))
      .querySelector(".title")
      ?.getAttribute("lang");
  expect(["he", "en", undefined].map((language) => langOf(language))).toEqual(["he", null, null]);
  expect([langOf("he", "en"), langOf("en", "he"), langOf(undefined, "he")]).toEqual([null, "he", "he"]);
});

test("a sparkline has a gap where nothing was counted, and is left out when there is nothing to draw", () => {
  const lines = (sparkline: (number | null)[]) =>
    show(listOf([itemWith({ sparkline })]))
      .querySelector(".sparkline path")
      ?.getAttribute("d") ?? null;
  expect(lines([0, 10, null, 5, 0])).toBe("M2 26L25 2M71 14L94 26");
  expect(lines([0, 0, 0, 0, 0])).toBe("M2 26L25 26L48 26L71 26L94 26");
  expect([lines([]), lines([null, null]), lines([1, null, 7, 3])]).toEqual([null, null, null]);
});

const random = new Random();

test(`titles and channels of every kind stay text, and find their own direction (seed ${random.seed})`, () => {
  for (let draw = 0; draw < 200; draw++) {
    const item = itemWith({ title: hostileText(random), channel: hostileText(random) });
    const shown = show(listOf([item]));
    for (const selector of [".title", ".channel"]) {
      expect(shown.querySelector(selector)?.getAttribute("dir")).toBe("auto");
    }
    expect(shown.querySelectorAll("a, script, img, template, textarea, svg").length).toBe(3); // link, picture, line
    expect(shown.querySelectorAll("[onclick], [onerror], [onload], [onmouseover], [style]").length).toBe(0);
  }
});

test("every language has its own messages and numbers", () => {
  const texts = pageLanguages.map((language) => {
    const options = { ...optionsInEnglish, messages: allMessages[language], formats: formatsOf(language) };
    return toHtml(listView(listOf([itemWith({ score: 1234567 })]), options));
  });
  expect(new Set(texts).size).toBe(pageLanguages.length);
  expect(texts[pageLanguages.indexOf("de")]).toContain("1.234.567");
});

test("what is expected is clicks at the place, else the views of the score, and nothing where the score is neither", () => {
  const said = (score_unit: List["score_unit"], expected_views: number | null) =>
    show(listOf([itemWith({ score: 71, expected_views })], { score_unit })).querySelector(".explanation p")
      ?.textContent;
  expect(said("clicks", 12.3)).toBe("Next 24 hours: 12 clicks expected at this place.");
  expect(said("views", null)).toBe("Next 24 hours: 71 views expected.");
  expect(said("mixed", null)).toStartWith("Views so far");
});
