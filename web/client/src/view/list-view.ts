import { type Window, windowHours } from "@trendvault/contract/lists";
import { videoAddress } from "@trendvault/contract/paths";
import type { TrendingPage, TrendingSnippetPage } from "@trendvault/contract/responses";
import { type Formats, fill, type ListMessages, nameWindow } from "./locales/locale.ts";
import { h, type ViewElement } from "./nodes.ts";

/** A page of a list, of any `fields`. */
export type List = Pick<TrendingPage, "region" | "window" | "previous_generated_at" | "score_unit"> & {
  items: readonly ListItem[];
};

/** What every shape has, and what some have. */
type ListItem = TrendingSnippetPage["items"][number] &
  Partial<TrendingPage["items"][number]> & { sparkline?: readonly (number | null)[] };

export type ListOptions = {
  messages: ListMessages;
  formats: Formats;
  /** The hosts (with their port, when it is not the scheme's) whose pictures are shown. */
  thumbHosts: readonly string[];
  /** Where a video is reported, with `{id}` for its id; null: nowhere. */
  reportUrl?: string | null | undefined;
};

/** The ranks of a page, as items of one ordered list: further pages are added to it. */
export function listItems(list: List, options: ListOptions): ViewElement[] {
  return list.items.map((item, index) => itemView(item, { ...options, list, isFirst: index === 0 }));
}

/** The ordered list of a page, or a sentence when it has no items. */
export function listView(list: List, options: ListOptions): ViewElement {
  const words = { lang: options.formats.language, dir: options.messages.dir };
  if (list.items.length === 0)
    return h("p", { class: "empty", part: "empty", ...words }, options.messages.empty);
  // The role: without list markers, Safari would tell no screen reader that it is one.
  return h("ol", { class: "list", part: "list", role: "list", ...words }, listItems(list, options));
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
  const placed = placementText(item, options.messages);
  const moved = placed === null ? rankChangeOf(item, options.list.previous_generated_at) : null;
  return h(
    "li",
    { class: "item", part: "item", "data-rank": item.rank },
    h(
      "div",
      { class: "place", part: "place" },
      h("span", { class: "rank", part: "rank" }, options.formats.whole(item.rank)),
      moved === null ? null : rankChangeView(moved, options),
    ),
    h("div", { class: "picture", part: "picture" }, thumbView(item, options), cornerView(item, options)),
    h(
      "div",
      { class: "text", part: "text" },
      placed === null ? null : h("p", { class: "placed", part: "placed" }, placed),
      titleView(item, options),
      h("p", { class: "channel", part: "channel", dir: "auto" }, item.channel),
      whyView(item, options),
    ),
    figuresView(item, options),
  );
}

/** What has to be said of a video that its score did not bring here; null of all others. */
export function placementText(
  { placed_by: by, sponsor }: Pick<TrendingPage["items"][number], "placed_by" | "sponsor">,
  messages: Pick<ListMessages, "dir" | "placed" | "sponsored">,
): string | null {
  if (by === undefined) return null;
  if (sponsor === undefined) return messages.placed;
  // Names of another script keep their full stops (Unicode UAX #9, 2.5).
  const isolated = (name: string) => (messages.dir === "rtl" ? `\u2068${name}\u2069` : name);
  return fill(messages.sponsored, { name: isolated(sponsor.name), payer: isolated(sponsor.paid_by) });
}

// Nothing is said of the picture: the title beside it says what it is of.
function thumbView({ thumbs }: ListItem, { thumbHosts, isFirst }: ItemOptions): ViewElement {
  const [larger, smaller] = thumbs.map((thumb) => shownAddress(thumb, thumbHosts));
  const src = smaller ?? larger;
  if (!src) return placeholder();
  return h("img", {
    class: "thumb",
    part: "thumb",
    src,
    srcset: larger && larger !== src ? `${larger} 2x` : null,
    alt: "",
    width: 160,
    height: 90,
    loading: isFirst ? null : "lazy",
    fetchpriority: isFirst ? "high" : null,
    decoding: "async",
    referrerpolicy: "no-referrer",
  });
}

/** Null where it may not be shown. In a `srcset`, a comma at its end would be none of it. */
function shownAddress(thumb: string, thumbHosts: readonly string[]): string | null {
  const url = parseUrl(thumb);
  const isShown = url !== null && /^https?:$/.test(url.protocol) && thumbHosts.includes(url.host);
  return isShown ? url.href.replace(/,+$/, encodeURIComponent) : null;
}

/** That it is live, or how long it is, as in 3:07 or 1:02:45. */
function cornerView({ duration_seconds: seconds, live }: ListItem, { messages }: ItemOptions) {
  if (live === "now") return h("span", { class: "duration live", part: "duration live" }, messages.live);
  if (live === "scheduled") return h("span", { class: "duration", part: "duration" }, messages.scheduled);
  if (typeof seconds !== "number") return null;
  const [minutes, hours] = [Math.floor(seconds / 60) % 60, Math.floor(seconds / 3600)];
  const parts = hours === 0 ? [minutes, seconds % 60] : [hours, minutes, seconds % 60];
  const text = parts.map((part, index) => (index === 0 ? `${part}` : `${part}`.padStart(2, "0"))).join(":");
  return h("time", { class: "duration", part: "duration", datetime: `PT${seconds}S` }, text);
}

// URL.parse() is newer than the browsers that README.md names.
function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

function titleView(
  { title, url, language, title_language = language }: ListItem,
  { formats }: ItemOptions,
): ViewElement {
  const lang = title_language === formats.language ? null : title_language;
  const attributes = { class: "title", part: "title", dir: "auto", lang };
  if (url === null || !videoAddress.test(url)) return h("h2", attributes, title);
  return h("h2", attributes, h("a", { class: "link", part: "link", href: url }, title));
}

/** What the list itself knows; the rest is loaded into `.explanation` when it is opened. */
function whyView(item: ListItem, options: ItemOptions): ViewElement {
  const { messages, formats } = options;
  const expectation = expectationOf(item, options);
  const counts = countsOf(item);
  return h(
    "details",
    { class: "why", part: "why", "data-id": item.id },
    h("summary", {}, messages.why, h("span", { class: "hidden" }, ` (${formats.whole(item.rank)})`)),
    h(
      "div",
      { class: "explanation", part: "explanation" },
      expectation === null ? null : h("p", {}, expectation),
      counts === null ? null : h("p", {}, fill(messages.counted, { n: counts.views }, formats)),
    ),
    reportView(item, options),
  );
}

function reportView({ id }: ListItem, { messages, reportUrl }: ItemOptions): ViewElement | null {
  if (!reportUrl?.startsWith("https://")) return null;
  const href = reportUrl.replace("{id}", encodeURIComponent(id));
  return h("a", { class: "report", part: "report", href }, messages.report);
}

/** Null of a video that only a catalogue names, of which nothing is known, and of an item without them (`snippet`). */
function countsOf({ velocity }: ListItem): NonNullable<ListItem["velocity"]> | null {
  return velocity !== undefined && velocity.views > 0 ? velocity : null;
}

/** Clicks at this place; where these are not known, the views that the score counts, if that is what it counts. */
function expectationOf(item: ListItem, { messages, formats, list }: ItemOptions): string | null {
  const { expected_views: clicks, score: n } = item;
  const window = nameWindow(windowHours[list.window as Window], { messages, formats });
  if (typeof clicks === "number") return fill(messages.expectedHere, { window, n: clicks }, formats);
  return list.score_unit === "views" && n !== undefined && countsOf(item) !== null
    ? fill(messages.expected, { window, n }, formats)
    : null;
}

function figuresView(item: ListItem, { messages, formats }: ItemOptions): ViewElement {
  const { sparkline: values } = item;
  const counts = countsOf(item);
  if (counts === null) return h("div", { class: "figures", part: "figures" });
  return h(
    "div",
    { class: "figures", part: "figures" },
    values === undefined ? null : sparkline(values, messages.sparkline),
    h(
      "p",
      { class: "rate", part: "rate" },
      h("span", { class: "number", part: "number" }, formats.whole(counts.views_per_hour)),
      " ",
      h("span", { class: "unit", part: "unit" }, messages.viewsAnHour),
    ),
  );
}

type RankChange = "up" | "down" | "unchanged" | "new";

/**
 * How an item moved since the list that its `previous_rank` is of. Null when there was no such list
 * (`previousGeneratedAt`), and where it has none.
 */
function rankChangeOf(
  { rank, previous_rank: previous }: Pick<ListItem, "rank" | "previous_rank">,
  previousGeneratedAt: string | null,
): { movement: RankChange; places: number } | null {
  if (previousGeneratedAt === null || previous === undefined) return null;
  if (previous === null) return { movement: "new", places: 0 };
  const places = Math.abs(previous - rank);
  if (places === 0) return { movement: "unchanged", places };
  return { movement: rank < previous ? "up" : "down", places };
}

const signs = { up: "▲", down: "▼" } as const;

/** A sign for eyes and words for screen readers. */
function rankChangeView(
  { movement, places }: { movement: RankChange; places: number },
  { messages, formats }: { messages: ListMessages; formats: Formats },
): ViewElement {
  const count = formats.whole(places);
  const names = { class: `movement ${movement}`, part: `movement movement-${movement}` };
  if (movement === "new") return h("span", names, messages.new);
  // The triangle is drawn by the style: not every font has it.
  const sign = movement === "unchanged" ? "–" : [h("span", { class: "sign" }, signs[movement]), count];
  return h(
    "span",
    names,
    h("span", { class: "moved", "aria-hidden": "true" }, sign),
    h("span", { class: "hidden" }, fill(messages[movement], { n: count })),
  );
}

const width = 96;
const height = 28;
const margin = 2; // half of the stroke and of the last dot stay within the picture

const fewestPoints = 4; // of fewer there is more of the dot than of a line

/** Hourly values as a line, oldest first; where one is null, the line has a gap. Null when too few of them are known. */
function sparkline(values: readonly (number | null)[], label: string): ViewElement | null {
  const points = values.flatMap((value, hour) => (value === null ? [] : [{ hour, value }]));
  const last = points.at(-1);
  if (last === undefined || points.length < fewestPoints) return null;
  const largest = Math.max(...points.map(({ value }) => value), 1);
  const x = (hour: number) => round(margin + (hour / (values.length - 1)) * (width - 2 * margin));
  const y = (value: number) => round(height - margin - (value / largest) * (height - 2 * margin));
  const path = points.map(({ hour, value }, index) => {
    const isConnected = points[index - 1]?.hour === hour - 1;
    return `${isConnected ? "L" : "M"}${x(hour)} ${y(value)}`;
  });
  return h(
    "svg",
    {
      class: "sparkline",
      part: "sparkline",
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": label,
    },
    h("path", { d: path.join(""), fill: "none" }),
    h("circle", { cx: x(last.hour), cy: y(last.value), r: 2 }),
  );
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
