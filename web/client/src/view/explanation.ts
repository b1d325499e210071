import { type Window, windowHours } from "@trendvault/contract/lists";
import type { PageLanguage } from "@trendvault/contract/page";
import type { Explanation } from "@trendvault/contract/responses";
import { placementText } from "./list-view.ts";
import { loadListMessages } from "./locales/load.ts";
import { type Formats, fill, type ListMessages, nameWindow, type WhyMessages } from "./locales/locale.ts";

type Words = { messages: WhyMessages; formats: Formats };
type Place = NonNullable<Explanation["place"]>;

/** `explain`, with the words of a built-in language, which it loads, but for those that are given. */
export async function explainIn(
  language: PageLanguage,
  explanation: Explanation,
  { formats, own }: { formats: Formats; own: object | undefined },
): Promise<string[]> {
  const [ofList, ofWhy] = await Promise.all([loadListMessages(language), loaders[language]()]);
  return explain(explanation, { messages: { ...ofWhy.default, ...ofList, ...own }, formats });
}

/** Why a video is where it is in a list, in sentences for visitors. They say no more than the explanation's fields. */
export function explain(explanation: Explanation, words: Words): string[] {
  const { place, counts } = explanation;
  if (place === null) return [];
  const { messages, formats } = words;
  const sentences = [
    [
      fill(messages.whyPlace, { rank: place.rank, total: place.total }, formats),
      reason(explanation, place, words),
    ],
    [
      place.expected_views === null
        ? ""
        : expectation("expectedHere", place.expected_views, explanation, words),
    ],
    [counts === null ? uncounted(place, words) : counted(counts, words), age(explanation, place, words)],
    [channelLimit(explanation, place, words)],
    [visitors(explanation, words)],
    [explanation.licence, ...(explanation.tags ?? []).map((tag) => `#${tag}`)],
  ];
  return sentences.map((parts) => parts.filter(Boolean).join(" ")).filter(Boolean);
}

/** What a score counts follows from its unit (docs/ranking.md); a video that is tried has none of its own. */
function reason(explanation: Explanation, place: Place, words: Words): string {
  const { messages } = words;
  const placed = placementText(place, messages);
  if (placed !== null) return `${placed}.`;
  if (place.is_explored) return messages.whyExplored;
  const { rule } = explanation;
  if (rule !== undefined) {
    const said = fill(messages.whyRule, { share: words.formats.percent(rule.factor) });
    return rule.reason === null ? said : `${said} (${rule.reason})`;
  }
  if (place.score_unit === "mixed") return messages.whyMixed;
  if (place.score_unit === "clicks") return messages.whyClicks;
  return explanation.counts === null ? "" : expectation("expected", place.score, explanation, words);
}

function expectation(
  message: "expected" | "expectedHere",
  n: number,
  { window }: Explanation,
  words: Words,
): string {
  const name = nameWindow(windowHours[window as Window], words);
  return fill(words.messages[message], { window: name, n }, words.formats);
}

function counted(counts: NonNullable<Explanation["counts"]>, { messages, formats }: Words): string {
  const when = formats.ago((Date.now() - Date.parse(counts.counted_at)) / 1000);
  return fill(
    messages.whyCounted,
    { n: counts.views, when, rate: Math.round(counts.views_per_hour) },
    formats,
  );
}

/** By views alone, what nobody counted is listed by its age. */
function uncounted({ score_unit: unit, placed_by }: Place, { messages }: Words): string {
  const isByAge = unit === "views" && placed_by === undefined;
  return isByAge ? `${messages.whyUncounted} ${messages.newestFirst}` : messages.whyUncounted;
}

/** That a video is watched less as it ages is a forecast's rule; by clicks, a site may show that it does not hold. */
function age({ forecast }: Explanation, { score_unit: unit }: Place, { messages, formats }: Words): string {
  if (forecast === null) return "";
  if (forecast.is_age_assumed) return messages.whyAgeUnknown;
  const when = formats.ago((Date.now() - Date.parse(forecast.age_starts_at)) / 1000);
  const published = fill(messages.whyPublished, { when });
  return unit === "clicks" ? published : `${published} ${messages.whyOlder}`;
}

function channelLimit(
  { channel_limit: { videos, within_ranks: ranks } }: Explanation,
  { rank, rank_without_channel_limit: without, placed_by }: Place,
  { messages, formats }: Words,
): string {
  if (without === rank || placed_by !== undefined) return "";
  const facts = { videos, ranks };
  return without === null
    ? fill(messages.whyLimitOut, facts, formats)
    : fill(messages.whyLimit, { ...facts, rank: without }, formats);
}

function visitors({ visitors: seen }: Explanation, { messages, formats }: Words): string {
  if (seen === null) return "";
  const n = Math.round(seen.impressions);
  const rate = n > 0 ? seen.click_through_rate : seen.prior_click_through_rate;
  return fill(n > 0 ? messages.whySeen : messages.whyUnseen, { n, share: formats.percent(rate) }, formats);
}

const loaders: Record<PageLanguage, () => Promise<{ default: Omit<WhyMessages, keyof ListMessages> }>> = {
  en: () => import("./locales/en.json?why"),
  de: () => import("./locales/de.json?why"),
  fr: () => import("./locales/fr.json?why"),
  es: () => import("./locales/es.json?why"),
  it: () => import("./locales/it.json?why"),
  nl: () => import("./locales/nl.json?why"),
  pl: () => import("./locales/pl.json?why"),
  sv: () => import("./locales/sv.json?why"),
  pt: () => import("./locales/pt.json?why"),
  da: () => import("./locales/da.json?why"),
  cs: () => import("./locales/cs.json?why"),
  ar: () => import("./locales/ar.json?why"),
};
