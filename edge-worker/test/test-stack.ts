import { makeDatabase, type TestDatabase } from "./database.ts";
import { Edge } from "./edge.ts";
import { Network } from "./network.ts";
import { Origin } from "./origin.ts";

/** A database, the real origin that serves it, the network in front, and one data centre of the edge. */
export type TestStack = {
  database: TestDatabase;
  origin: Origin;
  network: Network;
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
  const network = await Network.start(origin.url);
  const edge = await Edge.start(network.url, vars);
  const close = async () => {
    await edge.close();
    await network.stop();
    await origin.kill();
    database.remove();
  };
  return { database, origin, network, edge, close };
}
