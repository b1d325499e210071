import type { ExecutionContext, ExportedHandler } from "@cloudflare/workers-types";
// @ts-expect-error: what `wrangler deploy` uploads, found through an alias that edge.ts sets
import deployed from "the-deployed-bundle";

/** Visitors who ask for their market's list. `share`: of all requests. */
export type Traffic = {
  requests: number;
  atOnce: number;
  visitors: { country: string; region: string; share: number }[];
  windows: { window: string; share: number }[];
};

/** `wrong`: answers other than 200 with the visitor's own market. `handled`: how many were handled in which way. */
export type Outcome = { wrong: number; handled: Record<string, number> };

/** The deployed Worker and its visitors in one isolate: the cheapest way to a day's traffic, or to measure a hit. */
// biome-ignore lint/style/noDefaultExport: a Worker's handlers are its default export
export default {
  async fetch(request: Request, env: unknown, context: ExecutionContext): Promise<Response> {
    const traffic = (await request.json()) as Traffic;
    const outcome: Outcome = { wrong: 0, handled: {} };
    for (let done = 0; done < traffic.requests; done += traffic.atOnce) {
      await Promise.all(
        Array.from({ length: traffic.atOnce }, () => visit(traffic, outcome, { env, context })),
      );
      await new Promise((resume) => setTimeout(resume)); // hits never wait: let renewals and the clock go on
    }
    return Response.json(outcome);
  },
};

type Place = { env: unknown; context: ExecutionContext };

async function visit(
  { visitors, windows }: Traffic,
  outcome: Outcome,
  { env, context }: Place,
): Promise<void> {
  const { country, region } = draw(visitors);
  const { window } = draw(windows);
  const request = new Request(`https://site.example/api/trending?window=${window}`, {
    cf: { country },
  } as object);
  const response: Response = (await (deployed as ExportedHandler).fetch?.(
    request as never,
    env,
    context,
  )) as never;
  const body = await response.text();
  if (response.status !== 200 || !body.startsWith(`{"region":"${region}"`)) outcome.wrong++;
  const how = (response.headers.get("cache-status") ?? `status ${response.status}`).replace(
    /; ttl=-?\d+/,
    "",
  );
  outcome.handled[how] = (outcome.handled[how] ?? 0) + 1;
}

function draw<T extends { share: number }>(choices: T[]): T {
  let at = Math.random();
  for (const choice of choices) {
    at -= choice.share;
    if (at < 0) return choice;
  }
  return choices[0] as T; // the shares' sum is a rounding error below 1
}
