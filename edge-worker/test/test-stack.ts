import { makeDatabase, type TestDatabase } from "./database.ts";
import { Edge } from "./edge.ts";
import { Origin } from "./origin.ts";
import { OriginProxy } from "./origin-proxy.ts";

/** A database, the real origin that serves it, a proxy in front of it, and one data centre of the edge. */
export type TestStack = {
  database: TestDatabase;
  origin: Origin;
  proxy: OriginProxy;
  edge: Edge;
  close: () => Promise<void>;
};

/** `vars` replace variables of wrangler.toml; `rankedSecondsAgo` is how old the first generation is. */
export async function startTestStack(
  vars: Record<string, string> = {},
  rankedSecondsAgo = 0,
): Promise<TestStack> {
  const database = makeDatabase(rankedSecondsAgo);
  const origin = await Origin.start(database.path);
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

/** Resolves when the origin serves a generation, which it does soon after it was published. */
export async function originServes({ origin }: TestStack, generation: number): Promise<void> {
  for (;;) {
    const response = await origin.fetch("/api/regions");
    if (((await response.json()) as { generation: number }).generation >= generation) return;
    await new Promise((resume) => setTimeout(resume, 20));
  }
}
