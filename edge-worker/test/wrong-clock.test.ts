import { expect, test } from "bun:test";
import { clockSkewSeconds } from "@trendvault/contract/lists";
import { trendingUrl } from "@trendvault/contract/queries";
import { regionCodes } from "@trendvault/contract/regions";
import { Random, testSeed } from "@trendvault/contract/test-support/random";
import type { Exchange } from "./exchanges.ts";
import { InProcessEdge, withFetch } from "./in-process-edge.ts";
import { signedPage } from "./keys.ts";

const targets = regionCodes.slice(0, 3).map((region) => trendingUrl({ region, window: "now", limit: 24 }));
const refused: Exchange = {
  status: 403,
  headers: [["content-type", "application/problem+json"]],
  body: "{}",
};
const askSeconds = 5;

/** An edge whose clock is set wrong; times are of the true clock, in Unix seconds. */
class WrongClock {
  now = 1_800_000_000;
  ahead = 0;
  readonly #edge = new InProcessEdge({ stored: [], fallback: null }, () => this.now + this.ahead);

  /** Asks for every list now and then; gives what was not served, and when each list was made that was served last. */
  async ask(seconds: number): Promise<{ failures: string[]; generatedAt: number[] }> {
    const failures: string[] = [];
    let generatedAt: number[] = [];
    for (const end = this.now + seconds; this.now < end; this.now += askSeconds) {
      generatedAt = [];
      for (const target of targets) {
        const seen = await withFetch(
          (asked) => this.#answer(asked),
          () => this.#edge.ask(target),
        );
        const [status, , body] = JSON.parse(seen) as [number, unknown, string];
        if (status === 200) generatedAt.push(Date.parse(JSON.parse(body).generated_at) / 1000);
        else failures.push(`${status} at ${this.ahead} s: ${body}`);
      }
    }
    return { failures, generatedAt };
  }

  /** The origin's clock is right: it refuses what is signed at another time. */
  #answer(target: string): Exchange {
    if (Math.abs(this.ahead) > clockSkewSeconds) return refused;
    return signedPage(target, this.now);
  }
}

async function setWrong({ ahead, seconds }: { ahead: number; seconds: number }): Promise<void> {
  const clock = new WrongClock();
  expect((await clock.ask(30)).failures).toEqual([]);
  clock.ahead = ahead;
  expect((await clock.ask(seconds)).failures).toEqual([]);
  clock.ahead = 0;
  const rightSince = clock.now;
  const { failures, generatedAt } = await clock.ask(300);
  expect(failures).toEqual([]);
  expect(Math.min(...generatedAt)).toBeGreaterThan(rightSince);
}

test.each([2, 61, 300, 86_000])(
  "an edge whose clock is %p s wrong serves what it has, and soon what is new when the clock is right",
  async (seconds) => {
    await setWrong({ ahead: seconds, seconds: 200 });
    await setWrong({ ahead: -seconds, seconds: 200 });
  },
);

test(`so it is for clocks that are wrong by any time, for any time (seed ${testSeed})`, async () => {
  const random = new Random();
  for (let drawn = 0; drawn < 10; drawn++) {
    const ahead = random.pick([-1, 1]) * random.below(3 ** random.below(11));
    await setWrong({ ahead, seconds: askSeconds * (1 + random.below(60)) });
  }
});
