import { dirname, join } from "node:path";
import type { Options } from "./options.ts";
import type { PartPlan } from "./part.ts";

/** Nothing of the local stack listens to other machines. */
export const HOST = "127.0.0.1";

export type Surroundings = { root: string; env: Record<string, string> };

/** The origin. It is not given EDGE_KEYS, so that it also answers whoever calls it directly. */
export function originPlan({ db, port }: Options, { root, env }: Surroundings): PartPlan {
  const { EDGE_KEYS: _, ...others } = env;
  return {
    name: "origin",
    command: [process.execPath, "--no-env-file", join(root, "api/src/main.ts")],
    env: { ...others, HOST, PORT: String(port), ADMIN_HOST: HOST, ADMIN_PORT: "0" },
    logPath: join(dirname(db), "log/origin.log"),
    readyUrl: `http://${HOST}:${port}/healthz`,
  };
}

/** The edge in front of that origin. What it caches stays beside the database. */
export function edgePlan({ db, port, edgePort }: Options, { root, env }: Surroundings): PartPlan {
  const state = join(dirname(db), "edge");
  return {
    name: "edge",
    command: [join(root, "edge-worker/dev"), `http://${HOST}:${port}`, String(edgePort), state],
    env,
    logPath: join(dirname(db), "log/edge.log"),
    readyUrl: `http://${HOST}:${edgePort}/healthz`,
  };
}
