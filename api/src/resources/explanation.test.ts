import { expect, test } from "bun:test";
import { examples } from "@trendvault/contract/examples";
import { explanationSentences } from "./explanation.ts";

const visitors = {
  ...{ impressions: 174.8, clicks: 3, weight: 0.269, click_through_rate: 0.357 },
  ...{ prior_click_through_rate: 0.5, upper_click_through_rate: 0.4, is_held: false },
};

test("the sentences of the examples.explanation are what is written of its facts", () => {
  expect(explanationSentences(examples.explanation)).toEqual(examples.explanation.sentences);
});

test.each([
  ["no impressions are counted", null, "it is expected to get 182,341 more views there in that time."],
  [
    "impressions weigh nothing yet",
    { ...visitors, weight: 0 },
    "it is expected to get 182,341 more views there",
  ],
  [
    "impressions weigh",
    visitors,
    "its score of 182,341 is a mean of the views expected in that time and of those",
  ],
  ["impressions weigh", visitors, "which weigh 26.9 %."],
])("where %s, the score is said to be what it is", (_, counted, words) => {
  expect(explanationSentences({ ...examples.explanation, visitors: counted })[0]).toContain(words);
});
