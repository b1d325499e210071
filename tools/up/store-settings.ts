import { join } from "node:path";
import { keySigner } from "../../api/src/signing.ts";
import { HOST } from "./services.ts";

/** The bucket of edge-worker/dev-store, and the prefix that the edge reads. */
const publishInto = "s3://dev-store/lists";
/** From the project's folder, where the writer runs: its words may have no spaces, which the folder may. */
const render = [".tools/bin/bun", "--no-env-file", "api/src/render.ts"];

/**
 * The settings that publishing into the local store needs: the writer's, the renderer's, which it starts, and the edge's.
 * `env` has the keys.
 *
 * @throws Error with what a program said that could not print its public keys
 */
export async function withStore(
  env: Record<string, string>,
  { root, edgePort }: { root: string; edgePort: number },
): Promise<Record<string, string>> {
  const { x } = await keySigner(Buffer.from(env.EDGE_SIGNING_KEY ?? "", "base64url"));
  const settings = {
    ...env,
    PUBLISH: publishInto,
    S3_ENDPOINT: `http://${HOST}:${edgePort}`,
    S3_ACCESS_KEY_ID: env.S3_SECRET_ACCESS_KEY ?? "", // the local store looks at no more
    PUBLISH_TIMEOUT_SECONDS: "600", // beside an edge and visitors on one machine
    RENDER_COMMAND: render.join(" "),
    EDGE_SIGNING_PUBLIC_KEYS: x,
  };
  const keys = await Promise.all([
    printedKeys([...render, "--keys"], { root, env: settings }),
    printedKeys([join(root, "writer/bin/writer"), "publication-keys"], { root, env: settings }),
  ]);
  return { ...settings, ORIGIN_JWKS: JSON.stringify({ keys: keys.flat() }) };
}

async function printedKeys(
  command: string[],
  { root, env }: { root: string; env: Record<string, string> },
): Promise<object[]> {
  const child = Bun.spawn(command, { cwd: root, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [printed, said] = [await child.stdout.text(), await child.stderr.text()];
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")} failed: ${said}`);
  return (JSON.parse(printed) as { keys: object[] }).keys;
}
