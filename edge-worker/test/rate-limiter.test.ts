import { expect, test } from "bun:test";
import { Random } from "@trendvault/contract/test-support/random";
import { InProcessEdge, withFetch } from "./in-process-edge.ts";
import { signedPage } from "./keys.ts";

const target = "/api/trending?region=DE";
const random = new Random();
const newEdge = () => new InProcessEdge({ stored: [], fallback: null }, () => Math.floor(Date.now() / 1000));

test(`clients over their limit take nothing from one that is within it (TEST_SEED=${random.seed})`, async () => {
  const page = signedPage(target);
  for (let draw = 0; draw < 200; draw++) {
    let asked = 0;
    const answer = () => {
      asked++;
      return page;
    };
    const clients = Array.from({ length: 2 + random.below(8) }, () => random.below(4) === 0);
    const edge = newEdge();
    const statuses = await withFetch(answer, () =>
      Promise.all(
        clients.map(async (isAllowed) => {
          for (let turns = random.below(12); turns > 0; turns--) await null;
          const [status] = JSON.parse(await edge.ask(target, () => limiterSays(isAllowed)));
          return status;
        }),
      ),
    );
    const refused = clients.filter((isAllowed, index) => isAllowed && statuses[index] !== 200);
    expect({ clients, statuses, refused }).toEqual({ clients, statuses, refused: [] });
    expect(asked).toBeLessThanOrEqual(1);
  }
});

async function limiterSays(isAllowed: boolean): Promise<boolean> {
  for (let turns = random.below(12); turns > 0; turns--) await null;
  return isAllowed;
}

test("a rate limiter that fails refuses nobody", async () => {
  const page = signedPage(target);
  const seen = await withFetch(
    () => page,
    () => newEdge().ask(target, () => Promise.reject(new Error("no limiter"))),
  );
  expect(JSON.parse(seen)[0]).toBe(200);
});
