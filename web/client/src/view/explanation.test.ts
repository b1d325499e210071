import { expect, setSystemTime, test } from "bun:test";
import { examples } from "@trendvault/contract/examples";
import { explain, explainIn } from "./explanation.ts";
import { allMessages } from "./locales/all.ts";
import { formatsOf } from "./locales/locale.ts";

const example = examples.explanation;
const place = example.place as NonNullable<typeof example.place>;
const visitors = {
  ...{ impressions: 174.8, clicks: 3, weight: 0.269, click_through_rate: 0.357 },
  ...{ prior_click_through_rate: 0.5, upper_click_through_rate: 0.4, is_held: false },
};

/** What is said 20 minutes after the views were counted. */
function said(replaced: Partial<typeof example> = {}, language: "en" | "cs" | "ar" = "en"): string[] {
  setSystemTime(new Date("2026-11-21T10:18:00Z"));
  try {
    const words = { messages: allMessages[language], formats: formatsOf(language) };
    return explain({ ...example, ...replaced }, words);
  } finally {
    setSystemTime();
  }
}

test("a visitor reads the place, what is expected, what was counted and how old the video is", () => {
  expect(said()).toEqual([
    "Place 1 of 200. Next 24 hours: 182,341 views expected.",
    "104,233 views so far, counted 20 minutes ago; lately 9,120 an hour. Published 16 hours ago. The older a video is, the fewer new views it gets.",
  ]);
});

test("what the score counts is said as what it is, and that a place was not earned", () => {
  const first = (replaced: Partial<typeof place>) => said({ place: { ...place, ...replaced } })[0];
  expect(first({ score_unit: "mixed" })).toContain("Two things count: its views, and how often");
  expect(first({ score_unit: "clicks" })).toContain("What counts most is how often");
  expect(first({ score_unit: "clicks", is_explored: true })).toContain("higher than it has earned so far");
  const expecting = said({ place: { ...place, score_unit: "clicks", expected_views: 1 } });
  expect(expecting[1]).toBe("Next 24 hours: 1 click expected at this place.");
});

test("who placed a video is said in place of a score, and nothing of the limit by channel", () => {
  const placed = { ...place, rank_without_channel_limit: null, model_rank: 7 };
  const sponsor = { name: "A brand", paid_by: "Its agency" };
  const [paid, , , ...others] = said({ place: { ...placed, placed_by: "sponsor", sponsor } });
  expect([paid, others]).toEqual(["Place 1 of 200. Advertisement for A brand, paid by Its agency.", []]);
  const [inArabic] = said({ place: { ...placed, placed_by: "sponsor", sponsor } }, "ar");
  expect(inArabic).toContain("\u2068A brand\u2069"); // what comes after a name may not turn it around
  expect(said({ place: { ...placed, placed_by: "editor" } }, "cs")[0]).toEndWith(" Výběr redakce.");
});

test("a rule is said in place of what a score counts, with its reason where that is public", () => {
  const rule = { factor: 0.3, reason: "Too many" };
  expect(said({ rule })[0]).toBe(
    "Place 1 of 200. By a rule of this site, 30% of its score counts. (Too many)",
  );
  expect(said({ rule: { ...rule, reason: null } }, "cs")[0]).toEndWith(" se počítá 30\u00a0% jeho skóre.");
});

test("a licence and tags are named last, as they are", () => {
  const details = { licence: "CC-BY-4.0", tags: ["lighthouse", "at sea"] };
  expect(said(details)).toEqual([...said(), "CC-BY-4.0 #lighthouse #at sea"]);
  expect(said({ licence: "CC0-1.0" }).at(-1)).toBe("CC0-1.0");
});

test("one is said as one, of what was counted and of what was seen", () => {
  const counts = { ...(example.counts as NonNullable<typeof example.counts>), views: 1 };
  expect(said({ counts })[1]).toStartWith("1 view so far, ");
  expect(said({ visitors: { ...visitors, impressions: 1 } }).at(-1)).toBe(
    "About 36% of those who see it open it (it was on screen once).",
  );
  expect(said({ visitors }).at(-1)).toContain("(it was on screen 175 times)");
  expect(said({ visitors: { ...visitors, impressions: 0.2 } }).at(-1)).toContain("about 50% of those who");
});

test("nothing is said of views that nobody counted, or of an age that nobody knows", () => {
  const forecast = { ...(example.forecast as NonNullable<typeof example.forecast>), is_age_assumed: true };
  const uncounted = { counts: null, forecast, place: { ...place, score_unit: "clicks" as const } };
  expect(said(uncounted)[1]).toBe("Nobody counts its views. When it was published is not known.");
});

test("that older videos get fewer views is said where a forecast orders, and not where clicks tell", () => {
  const published = (unit: typeof place.score_unit) => said({ place: { ...place, score_unit: unit } })[1];
  expect(published("mixed")).toEndWith(
    "Published 16 hours ago. The older a video is, the fewer new views it gets.",
  );
  expect(published("clicks")).toEndWith("an hour. Published 16 hours ago.");
});

test("a video that nobody counted is listed by its age, where no clicks order and nobody placed it", () => {
  const uncounted = (replaced: Partial<typeof place>) =>
    said({ counts: null, place: { ...place, ...replaced } })[1];
  expect(uncounted({})).toContain(
    "Videos whose views nobody counts come after the others, the newest first.",
  );
  expect(uncounted({ score_unit: "clicks" })).not.toContain("newest first");
  expect(uncounted({ placed_by: "editor" })).not.toContain("newest first");
});

test("the limit by channel is named where it has moved the video", () => {
  const limited = (rank: number | null) => said({ place: { ...place, rank_without_channel_limit: rank } });
  expect(limited(4).at(-1)).toEndWith("3 of the first 24 places; without this rule it would be at place 4.");
  expect(limited(null).at(-1)).toEndWith("without this rule it would not be in the list.");
});

test("a list of another language has its own words, numbers and times, and loads them", async () => {
  expect(said({}, "cs")[1]).toStartWith("Dosud 104\u00a0233 zhlédnutí (spočítáno před 20 minutami); ");
  const [first] = await explainIn("de", example, { formats: formatsOf("de"), own: undefined });
  expect(first).toBe("Platz 1 von 200. Nächste 24 Stunden: 182.341 Aufrufe erwartet.");
  const own = { whyPlace: "Plaz {rank} vun {total}." };
  const [ownFirst] = await explainIn("en", example, { formats: formatsOf("lb"), own });
  expect(ownFirst).toBe("Plaz 1 vun 200. Next 24 Stonnen: 182.341 views expected.");
});
