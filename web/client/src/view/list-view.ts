import type { TrendingPage } from "@trendvault/contract/responses";
import type { Formats } from "./formats.ts";
import { movementOf, movementView } from "./movement.ts";
import { h, type ViewElement } from "./nodes.ts";
import { sparkline } from "./sparkline.ts";
import { fill, type Words } from "./words/words.ts";

/** A page of a list, with or without `fields=chart`. */
export type List = Pick<TrendingPage, "region" | "window" | "previous_generated_at"> & {
  items: readonly ListItem[];
};

export type ListItem = TrendingPage["items"][number] & { sparkline?: readonly (number | null)[] };

export type ListOptions = {
  words: Words;
  formats: Formats;
  /** The hosts (with their port, when it is not the scheme's) whose pictures are shown. */
  thumbHosts: readonly string[];
};

/** The ranks of a page, as items of one ordered list: further pages are added to it. */
export function listItems(list: List, options: ListOptions): ViewElement[] {
  return list.items.map((item, index) => itemView(item, { ...options, list, isFirst: index === 0 }));
}

/** The ordered list of a page, or a sentence when it has no items. */
export function listView(list: List, options: ListOptions): ViewElement {
  if (list.items.length === 0) return h("p", { class: "empty", part: "empty" }, options.words.empty);
  // The role: without list markers, Safari would tell no screen reader that it is one.
  return h("ol", { class: "list", part: "list", role: "list" }, listItems(list, options));
}

/** The picture in place of one that is missing or of another host. */
export function placeholder(): ViewElement {
  return h(
    "svg",
    { class: "thumb placeholder", part: "thumb placeholder", viewBox: "0 0 160 90", "aria-hidden": "true" },
    h("path", { d: "M68 28v34l28-17z" }),
  );
}

type ItemOptions = ListOptions & { list: List; isFirst: boolean };

function itemView(item: ListItem, options: ItemOptions): ViewElement {
  const moved = movementOf(item, options.list.previous_generated_at);
  return h(
    "li",
    { class: "item", part: "item", "data-rank": item.rank },
    h(
      "div",
      { class: "place", part: "place" },
      h("span", { class: "rank", part: "rank" }, options.formats.whole(item.rank)),
      moved === null ? null : movementView(moved, options),
    ),
    thumbView(item, options),
    h(
      "div",
      { class: "text", part: "text" },
      titleView(item),
      h("p", { class: "channel", part: "channel", dir: "auto" }, item.channel),
      whyView(item, options),
    ),
    figuresView(item, options),
  );
}

// Nothing is said of the picture: the title beside it says what it is of.
function thumbView({ thumbs }: ListItem, { thumbHosts, isFirst }: ItemOptions): ViewElement {
  const url = URL.parse(thumbs[0]);
  if (url === null || !/^https?:$/.test(url.protocol) || !thumbHosts.includes(url.host)) return placeholder();
  return h("img", {
    class: "thumb",
    part: "thumb",
    src: url.href,
    alt: "",
    width: 160,
    height: 90,
    loading: isFirst ? null : "lazy",
    fetchpriority: isFirst ? "high" : null,
    decoding: "async",
    referrerpolicy: "no-referrer",
  });
}

function titleView({ title, url }: ListItem): ViewElement {
  const attributes = { class: "title", part: "title", dir: "auto" };
  if (url === null || !url.startsWith("https://")) return h("h2", attributes, title);
  return h("h2", attributes, h("a", { class: "link", part: "link", href: url }, title));
}

/** What the list itself knows; the rest is loaded into `.explanation` when it is opened. */
function whyView(item: ListItem, { words, formats }: ItemOptions): ViewElement {
  return h(
    "details",
    { class: "why", part: "why", "data-id": item.id },
    h("summary", {}, words.why, h("span", { class: "hidden" }, ` (${formats.whole(item.rank)})`)),
    h(
      "div",
      { class: "explanation", part: "explanation" },
      h("p", {}, fill(words.expected, { n: formats.whole(item.score) })),
      h("p", {}, fill(words.counted, { n: formats.whole(item.velocity.views) })),
    ),
  );
}

function figuresView(
  { velocity, sparkline: values }: ListItem,
  { words, formats }: ItemOptions,
): ViewElement {
  return h(
    "div",
    { class: "figures", part: "figures" },
    values === undefined ? null : sparkline(values, words.sparkline),
    h(
      "p",
      { class: "rate", part: "rate" },
      h("span", { class: "number", part: "number" }, formats.whole(velocity.views_per_hour)),
      " ",
      h("span", { class: "unit", part: "unit" }, words.viewsAnHour),
    ),
  );
}
