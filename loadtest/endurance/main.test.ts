import { expect, test } from "bun:test";
import { parseOptions } from "./main.ts";

const parse = (...argv: string[]) => parseOptions(argv, () => 7);

test("without options it takes twenty minutes, with a seed of its own", () => {
  expect(parse()).toEqual({
    seconds: 1200,
    seed: 7,
    writerSeconds: 60,
    requestsPerSecond: 40,
    movesClocks: true,
    kills: null,
  });
});

test("each option is read", () => {
  const argv = ["--hours", "2", "--seed=5", "--writer-seconds", "20", "--requests", "9", "--no-clocks"];
  expect(parse(...argv)).toMatchObject({
    seconds: 7200,
    seed: 5,
    writerSeconds: 20,
    requestsPerSecond: 9,
    movesClocks: false,
  });
  expect(parse("--kills", "1000").kills).toBe(1000);
  expect(parse("--hours", "0.33").seconds).toBe(1188);
});

test.each([
  [["--hours", "0.1"], "--hours is 0.1: expected a number of at least 0.33"],
  [["--seed", "x"], "--seed is x: expected a number of at least 1"],
  [["--kills", ""], "--kills is : expected a number of at least 1"],
  [["--for-ever"], "--for-ever"],
])("%p is refused with what was expected", (argv, message) => {
  expect(() => parse(...argv)).toThrow(message);
});
