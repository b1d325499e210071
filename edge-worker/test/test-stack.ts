import { bundle, Edge } from "@trendvault/kit/edge";
import { until } from "@trendvault/kit/machine";
import { EdgeOrigin } from "@trendvault/kit/origin-process";
import { OriginProxy } from "@trendvault/kit/origin-proxy";
import { makeDatabase, type TestDatabase } from "./database.ts";

/** A database, the real origin that serves it, a proxy in front of it, and one data centre of the edge. */
export type TestStack = {
  database: TestDatabase;
  origin: EdgeOrigin;
  proxy: OriginProxy;
  edge: Edge;
  close: () => Promise<void>;
};

/** `vars` replace variables of wrangler.toml; `rankedSecondsAgo` is how old the first generation is. */
export async function startTestStack(
  vars: Record<string, string> = {},
  rankedSecondsAgo = 0,
): Promise<TestStack> {
  bundle(); // takes long: the generation ages meanwhile
  const database = makeDatabase(rankedSecondsAgo);
  const origin = await EdgeOrigin.start(database.path);
  const proxy = await OriginProxy.start(origin.url);
  const edge = await Edge.start(proxy.url, vars);
  const close = async () => {
    await edge.close();
    await proxy.stop();
    await origin.kill();
    database.remove();
  };
  return { database, origin, proxy, edge, close };
}

/** Resolves when the origin serves each target of a generation, which it does soon after it was published. */
export function originServes({ origin }: TestStack, generation: number, targets: string[]): Promise<void> {
  return serves((target) => origin.fetch(target), generation, targets);
}

/** Resolves when the edge does, for lists that are expired at once. */
export function edgeServes({ edge }: TestStack, generation: number, targets: string[]): Promise<void> {
  return serves((target) => edge.fetch(target), generation, targets);
}

type Fetch = (target: string) => Promise<{ status: number; text: () => Promise<string> }>;

async function serves(fetch: Fetch, generation: number, targets: string[]): Promise<void> {
  for (const target of targets) {
    await until(async () => {
      const response = await fetch(target);
      const text = await response.text();
      return response.status === 200 && JSON.parse(text).generation >= generation;
    });
  }
}
