import { expect, test } from "bun:test";
import { explanationExample as example } from "@trendvault/contract/examples";
import { explanationSentences } from "./explanation.ts";

const looks = {
  ...{ looks: 174.8, views: 3, weight: 0.269, appeal: 0.357 },
  ...{ expected_appeal: 0.5, tried_appeal: 0.4, is_held: false },
};

test("the sentences of the example are what is written of its facts", () => {
  expect(explanationSentences(example)).toEqual(example.sentences);
});

test.each([
  ["no looks are counted", null, "it is expected to get 182,341 more views there in that time."],
  ["looks weigh nothing yet", { ...looks, weight: 0 }, "it is expected to get 182,341 more views there"],
  ["looks weigh", looks, "its score of 182,341 is a mean of the views expected in that time and of those"],
  ["looks weigh", looks, "which weigh 26.9 %."],
])("where %s, the score is said to be what it is", (_, counted, words) => {
  expect(explanationSentences({ ...example, looks: counted })[0]).toContain(words);
});
