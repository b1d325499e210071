import { expect, test } from "bun:test";
import { longestBody } from "@trendvault/contract/http";
import { windows } from "@trendvault/contract/lists";
import { trendingUrl } from "@trendvault/contract/queries";
import { regionCodes } from "@trendvault/contract/regions";
import type { Exchange } from "./exchanges.ts";
import { InProcessEdge, withFetch } from "./in-process-edge.ts";
import { signedPage } from "./keys.ts";

// Ten minutes in which every list is requested every five seconds, of one isolate.
const seconds = 600;
const targets = regionCodes.flatMap((region) =>
  windows.map((window) => trendingUrl({ region, window, limit: 24 })),
);

const failing: Exchange = { status: 500, headers: [], body: "" };

/** How often the origin was asked in that time. */
async function countAsked(answer: (target: string) => Exchange): Promise<number> {
  const begun = Math.floor(Date.now() / 1000);
  let [now, asked] = [begun, 0];
  const edge = new InProcessEdge({ stored: [], fallback: null }, () => now);
  const counting = (target: string) => {
    asked++;
    return answer(target);
  };
  await withFetch(counting, async () => {
    for (; now < begun + seconds; now += 5) for (const target of targets) await edge.ask(target);
  });
  return asked;
}

async function healthy(): Promise<(target: string) => Exchange> {
  const answers = new Map<string, Exchange>();
  for (const target of targets) answers.set(target, signedPage(target));
  return (target) => answers.get(target) as Exchange;
}

test("when it is back, the first response that is good lets all lists be fetched again", async () => {
  const begun = Math.floor(Date.now() / 1000);
  let [now, isUp] = [begun, true];
  const answers = await healthy();
  const edge = new InProcessEdge({ stored: [], fallback: null }, () => now);
  const askAll = async () => {
    now += 5;
    const seen: string[] = [];
    for (const target of targets) seen.push(await edge.ask(target));
    return seen.filter((one) => /"cache-status","trendvault; hit; ttl=\d+"/.test(one)).length;
  };
  const answer = (target: string) => (isUp ? answers(target) : failing);
  await withFetch(answer, async () => {
    while (now < begun + 130) await askAll();
    isUp = false;
    while (now < begun + 400) await askAll();
    isUp = true;
    while ((await askAll()) === 0) expect(now).toBeLessThan(begun + 400 + 125);
    await askAll();
    expect(await askAll()).toBe(targets.length);
  });
});

test("an answer that is too large is a failure of its target, and of no other", async () => {
  const now = Math.floor(Date.now() / 1000);
  const edge = new InProcessEdge({ stored: [], fallback: null }, () => now);
  const answers = await healthy();
  const good = targets.at(-1) ?? "";
  const tooLarge: Exchange = { status: 200, headers: [], body: "x".repeat(longestBody + 1) };
  await withFetch(
    (target) => (target === good ? answers(target) : tooLarge),
    async () => {
      for (const target of targets.slice(0, 5)) expect(await edge.ask(target)).toStartWith("[503");
      expect(await edge.ask(good)).toStartWith("[200");
    },
  );
});

test("a failing origin is asked far less often than a healthy one", async () => {
  const busy: Exchange = { status: 503, headers: [["retry-after", "40"]], body: "" };
  const [well, ill, asksForPatience] = [
    await countAsked(await healthy()),
    await countAsked(() => failing),
    await countAsked(() => busy),
  ];
  expect(well).toBeGreaterThan(500); // 42 lists, first every two minutes, then, as no newer one comes, every half
  expect(ill).toBeLessThan(20);
  expect(asksForPatience).toBeLessThanOrEqual(ill);
}, 1_200_000);
