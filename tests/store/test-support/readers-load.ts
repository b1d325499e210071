import { Random } from "@trendvault/contract/test-support/random";
import type { Judge } from "./judge.ts";

type Options = {
  regions: readonly string[];
  limits: readonly number[];
  connections: number;
  /** Between two requests of a connection, so that others get the processor, too. */
  pauseMs: number;
  seed: number;
};

/** Asks a reader for lists, and for the next pages of some, until it is stopped. */
export function startLoad(judge: Judge, { regions, limits, connections, pauseMs, seed }: Options) {
  let isRunning = true;
  const connect = async (number: number) => {
    const random = new Random(seed + number);
    while (isRunning) {
      const window = random.pick(["now", "day", "week"]);
      const page = await judge.ask(
        `/api/trending?region=${random.pick(regions)}&window=${window}&limit=${random.pick(limits)}`,
      );
      if (page?.next && random.below(4) === 0) await judge.ask(page.next);
      await Bun.sleep(pauseMs);
    }
  };
  const all = Promise.all(Array.from({ length: connections }, (_, number) => connect(number)));
  return async () => {
    isRunning = false;
    await all;
  };
}
