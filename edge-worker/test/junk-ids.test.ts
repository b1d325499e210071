import { expect, test } from "bun:test";
import { Random } from "@trendvault/contract/test-support/random";
import type { Exchange } from "./exchanges.ts";
import { InProcessEdge, withFetch } from "./in-process-edge.ts";
import { signedPage } from "./keys.ts";

const random = new Random();
const front = "/api/trending?region=DE";
const begun = Math.floor(Date.now() / 1000);
const failing: Exchange = { status: 500, headers: [], body: "" };
/** What the origin says to ids that do not exist when there are more of them than it signs. */
const unsigned: Exchange = { status: 404, headers: [], body: "{}" };
const timeoutSeconds = 1200;

/** What the origin answers when its clock has this time, as the edge's has. */
function answerAt(now: () => number): (target: string) => Exchange {
  return (target) => (target.startsWith("/api/videos/junk") ? unsigned : signedPage(target, now()));
}

async function statusOf(edge: InProcessEdge, target: string): Promise<number> {
  return JSON.parse(await edge.ask(target))[0];
}

test(
  `a flood of ids that do not exist takes nothing from those that do (TEST_SEED=${random.seed})`,
  async () => {
    let now = begun;
    const edge = new InProcessEdge({ stored: [], fallback: null }, () => now);
    await withFetch(
      answerAt(() => now),
      async () => {
        for (let draw = 0; draw < 500; draw++) {
          now += random.pick([0, 0, 0, 1]);
          const target = random.pick([front, `/api/videos/real-${draw}`]);
          await edge.ask(`/api/videos/junk-${draw}`);
          expect([target, await statusOf(edge, target)]).toEqual([target, 200]);
        }
      },
    );
  },
  timeoutSeconds * 1000,
);

test(
  `nor does it delay the end of an outage, when its ids are the probes (TEST_SEED=${random.seed})`,
  async () => {
    let now = begun;
    const edge = new InProcessEdge({ stored: [], fallback: null }, () => now);
    await withFetch(
      () => failing,
      async () => {
        for (let n = 0; n < 4; n++) await edge.ask(`/api/videos/real-${n}`); // the breaker is open now
      },
    );
    await withFetch(
      answerAt(() => now),
      async () => {
        for (let status = 503; status !== 200; now++) {
          if (now < begun + 60) await edge.ask(`/api/videos/junk-${now}`);
          status = await statusOf(edge, `/api/videos/real-${now}`);
          expect(now - begun).toBeLessThan(70);
        }
      },
    );
  },
  timeoutSeconds * 1000,
);
