import { afterAll, beforeAll, expect, test } from "bun:test";
import { closePublishedOrigin, openPublishedOrigin, type PublishedOrigin } from "@trendvault/kit/origin";

let published: PublishedOrigin;

beforeAll(async () => {
  published = await openPublishedOrigin();
});

afterAll(() => closePublishedOrigin(published));

test("with each 1024th answer the caller may do what its timers are late for", async () => {
  const { origin, ask } = published.origin;
  let calls = 0;
  origin.onManyAnswers = () => calls++;
  const counted: number[] = [];
  for (let answers = 1; answers <= 3072; answers++) {
    await ask("/api/trending?region=GB");
    if (answers % 1024 === 1023 || answers % 1024 === 0) counted.push(calls);
  }
  expect(counted).toEqual([0, 1, 1, 2, 2, 3]);
});
