import { dirname, join } from "node:path";
import type { Options } from "./options.ts";
import type { ServiceSpec } from "./service.ts";

/** Nothing of the local stack listens to other machines. */
export const HOST = "127.0.0.1";

/** `root` is the project's folder, `env` what every service gets. */
type Context = { root: string; env: Record<string, string> };

/** The origin. With an edge in front it answers that edge only, as deployed; without one it answers every client. */
export function originService({ db, port, adminPort, edge }: Options, { root, env }: Context): ServiceSpec {
  const { EDGE_KEYS = "", ...others } = env;
  return {
    name: "origin",
    command: [process.execPath, "--no-env-file", join(root, "api/src/main.ts")],
    env: {
      ...others,
      ...(edge ? { EDGE_KEYS } : {}),
      HOST,
      PORT: String(port),
      ADMIN_HOST: HOST,
      ADMIN_PORT: String(adminPort),
    },
    logPath: join(dirname(db), "log/origin.log"),
    readyUrl: `http://${HOST}:${adminPort}/readyz`, // it listens there after its first worker does on its own port
  };
}

/** The edge, in front of that origin or, without one, of a store. What it caches is kept beside the database. */
export function edgeService({ db, port, origin, edgePort }: Options, { root, env }: Context): ServiceSpec {
  const state = join(dirname(db), origin ? "edge" : "edge-without-origin");
  const source = origin ? `http://${HOST}:${port}` : "--no-origin";
  return {
    name: "edge",
    command: [join(root, "edge-worker/dev"), source, String(edgePort), state],
    env,
    logPath: join(dirname(db), "log/edge.log"),
    readyUrl: `http://${HOST}:${edgePort}/healthz`,
  };
}
