import { expect, test } from "bun:test";
import { examples } from "@trendvault/contract/examples";
import type { ExplanationRecord } from "../database/store.ts";
import { explanationResource, explanationSentences } from "./explanation.ts";
import type { Content, Resource } from "./resource.ts";

const visitors = {
  ...{ impressions: 174.8, clicks: 3, weight: 0.269, click_through_rate: 0.357 },
  ...{ prior_click_through_rate: 0.5, upper_click_through_rate: 0.4, is_held: false },
};

test("the sentences of the example are what is written of its facts", () => {
  expect(explanationSentences(examples.explanation)).toEqual(examples.explanation.sentences);
});

const example = examples.explanation;
const place = example.place as NonNullable<typeof example.place>;
const firstSentence = (placed: Partial<typeof place>, facts: Partial<typeof example> = {}) =>
  explanationSentences({ ...example, place: { ...place, ...placed }, ...facts })[0];

test.each([
  ["views", "it is expected to get 182,341 more views there in that time."],
  [
    "mixed",
    "a geometric mean of the views forecast for that time and of the clicks that the first rank would bring, which weigh 26.9 %.",
  ],
  ["clicks", "the first rank would bring it 182,341 clicks in that time."],
] as const)("a score of %s is said to be what it is", (score_unit, words) => {
  expect(firstSentence({ score_unit }, { visitors })).toContain(words);
});

test.each(["views", "clicks"] as const)(
  "that growth slows with age is said where %s rank by it, of what is not listed, too",
  (unit) => {
    const last = { last_rank: 500, last_score: 9.5 };
    const absence = { reason: "score" as const, score: 7, score_unit: unit, impressions: 120, ...last };
    const [, ofPlace] = explanationSentences({ ...example, place: { ...place, score_unit: unit }, visitors });
    const [, ofAbsence] = explanationSentences({ ...example, place: null, absence, visitors });
    expect(ofAbsence).toBe(ofPlace);
    expect(String(ofPlace).endsWith("and growth slows with age.")).toBe(unit === "views");
  },
);

test("of what nobody counted, in a list without impressions, its age is the reason: it has no score of views", () => {
  const last = { last_rank: 500, last_score: 0.3 };
  const absence = {
    reason: "score" as const,
    score: null,
    score_unit: "views" as const,
    impressions: null,
    ...last,
  };
  const [sentence] = explanationSentences({ ...example, place: null, counts: null, absence, visitors: null });
  expect(sentence).toEndWith("its age places it behind the last rank, 500.");
  const [ofCounted] = explanationSentences({ ...example, place: null, absence, visitors: null });
  expect(ofCounted).toEndWith("its score is below that of the last rank, 500: 0.3.");
  const rule = { factor: 0.3, reason: "Too many" };
  const [ofRuled] = explanationSentences({ ...example, place: null, absence, visitors: null, rule });
  expect(ofRuled).toContain(
    "its score, which a rule of the editors (Too many) multiplies with 0.3, is below",
  );
});

const unlisted: ExplanationRecord = {
  video: {
    ...{ id: "v", title: "V", title_in_region: null, channel: "C", category: null },
    ...{ published_at: null, available_until: null, countries: null, details: null },
  },
  made: { formula: "test-1", taper_hours: 7, max_per_channel: 3, max_per_channel_ranks: 24 },
  place: null,
  absence: {
    ...{ look_weight: null, published_at: 900_000, newest_observed_at: 890_000, impressions: null },
    ...{ last_rank: 500, last_score: 1000, known_since: 800_000, came_at: 800_000, of_channel: 1 },
  },
  counts: {
    ...{ views: 9, counted_at: 890_000, views_per_hour: 9, rated_at: 890_000 },
    previous_views_per_hour: null,
  },
  ...{ parts: null, rule: null, lifted: [] },
};

test.each<[string, Partial<ExplanationRecord["absence"]>, Partial<ExplanationRecord["counts"]>, number]>([
  ["score", {}, {}, 24],
  ["score", {}, {}, 500],
  ["new", { known_since: 900_001 }, {}, 24],
  ["new", { came_at: 900_001 }, {}, 24], // dated back
  ["new", { last_rank: 499 }, {}, 24], // it had room
  ["new", { last_rank: 0, last_score: null }, {}, 24],
  ["new", {}, { views_per_hour: 9000 }, 24], // the limit takes nothing out of 500 ranks
  ["new", {}, { views_per_hour: 9000, counted_at: 900_001 }, 500],
  ["country", { came_at: 900_001 }, {}, 24], // also where editors keep it out
  ["unpublished", { came_at: 900_001 }, null, 24],
  ["channel-limit", {}, { views_per_hour: 9000 }, 500],
  ["channel-limit", { of_channel: 3, look_weight: 1 }, {}, 500], // its score is not known
  ["score", { of_channel: 3 }, {}, 500],
  ["not-counted", { newest_observed_at: 890_001 + 48 * 3600 }, {}, 24],
  ["few-impressions", { look_weight: 1, impressions: 99 }, {}, 24],
])(
  "a video is said to be in no list because of %s, with %p and %p, limited in %d ranks",
  (reason, absence, counts, ranks) => {
    const countries = JSON.stringify({ [reason === "country" ? "excluded" : "allowed"]: ["DE"] });
    const record = {
      ...unlisted,
      made: { ...unlisted.made, max_per_channel_ranks: ranks },
      absence: { ...unlisted.absence, ...absence },
      counts: counts && { ...unlisted.counts, ...counts },
      video: { ...unlisted.video, published_at: 900_301, countries },
      rule: reason === "country" ? { factor: 0, reason: null } : null,
    } as ExplanationRecord;
    expect(answer(record).absence.reason).toBe(reason);
  },
);

function answer(record: ExplanationRecord) {
  const reader = { readExplanation: () => record, hasVideo: () => true };
  const { read } = explanationResource("v", "region=DE", reader) as Resource;
  const generation = {
    id: 1,
    publishedAt: 900_000,
    regions: new Map([["DE", { id: 1, publishedAt: 900_000 }]]),
  };
  const { bytes } = (read(generation as never) as Content).render("");
  return JSON.parse(new TextDecoder().decode(bytes));
}

test("a video that was known before the time of publication is as old as that, by assumption", () => {
  const parts = { ageStartsAt: 896_400, limited: {}, visitors: null, scores: [] };
  const explained = (published_at: number) =>
    answer({ ...unlisted, parts, video: { ...unlisted.video, published_at } });
  expect(explained(896_400).sentences[1]).toEndWith("; it is 1 hour old, and growth slows with age.");
  expect(explained(898_000).sentences[1]).toContain("; it is assumed to be 1 hour old,");
});

test("a place says what it is expected to bring where that is known, and that it was not earned", () => {
  const words = "this place is expected to bring 12.5 clicks in that time.";
  expect(firstSentence({ expected_views: 12.5 })).toEndWith(words);
  const explored = firstSentence(
    { expected_views: 12.5, is_explored: true, score_unit: "clicks" },
    { visitors },
  );
  expect(explored).toEndWith(`so that something is learned of it; ${words}`);
  expect(explored).not.toContain("182,341");
});

test.each([
  [1, "by 1 impression."],
  [2, "by 2 impressions."],
  [0.5, "by 0.5 impressions."],
])("%d impressions are counted in words", (impressions, words) => {
  const sentences = explanationSentences({ ...example, visitors: { ...visitors, impressions } });
  expect(sentences.at(-1)).toEndWith(words);
});

test("nothing is said of views that nobody counted, or of impressions that nobody had", () => {
  const sentences = explanationSentences({
    ...example,
    counts: null,
    visitors: { ...visitors, impressions: 0 },
  });
  expect(sentences[0]).toEndWith("nobody counts its views, so its age places it.");
  expect(sentences.slice(1)).toEqual([
    "Nobody counts its views there; it is 15.5 hours old.",
    "Nobody has seen it in these lists yet; 50 % of those who see it are expected to open it at the first rank.",
  ]);
});
