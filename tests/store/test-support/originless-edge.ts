import { join, resolve } from "node:path";
import { freePort } from "../../../edge-worker/test/free-port.ts";
import { Program } from "./program.ts";

const root = resolve(import.meta.dir, "../../..");

/** One data centre of the edge, in workerd, without an origin. Its bucket is read through the store's proxy. */
export async function startOriginlessEdge({
  folder,
  env,
  vars,
}: {
  folder: string;
  env: Record<string, string>;
  vars: Record<string, string>;
}): Promise<{ url: string; program: Program }> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const program = new Program({
    name: "the edge",
    command: [
      join(root, "edge-worker/node_modules/.bin/wrangler"),
      ...["dev", "edge-worker/dev-store/over-http.ts", "--local", "--env="],
      ...["--ip", "127.0.0.1", "--port", String(port), "--inspector-port", "0"],
      ...["--persist-to", join(folder, "edge"), "--show-interactive-dev-session=false"],
      ...Object.entries(vars).flatMap(([name, value]) => ["--var", `${name}:${value}`]),
    ],
    env: {
      ...env,
      WRANGLER_SEND_METRICS: "false",
      WRANGLER_SEND_ERROR_REPORTS: "false",
      WRANGLER_HIDE_BANNER: "true",
      X_LOCAL_OBSERVABILITY: "false",
      X_LOCAL_EXPLORER: "false",
      CLOUDFLARE_CF_FETCH_ENABLED: "false",
      CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV: "false",
      CLOUDFLARE_INCLUDE_PROCESS_ENV: "true",
    },
    cwd: root,
    logPath: join(folder, "edge.log"),
    readyUrl: `${url}/healthz`,
  });
  await program.start();
  return { url, program };
}
