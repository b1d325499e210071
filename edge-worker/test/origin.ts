import { type ChildProcess, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { edgeKeys, signingKey, tokenSigningKey } from "./keys.ts";

const main = join(import.meta.dirname, "../../api/src/main.ts");

const origins = new Set<Origin>();
process.once("exit", () => {
  for (const origin of origins) origin.killGroup();
});

/** The real origin on a port that stays its own, so that it can be killed and come back. */
export class Origin {
  readonly #port: number;
  readonly #environment: Record<string, string>;
  #process: ChildProcess | undefined;

  private constructor(port: number, environment: Record<string, string>) {
    this.#port = port;
    this.#environment = environment;
  }

  /** `settings` are further ones of its environment. */
  static async start(databasePath: string, settings: Record<string, string> = {}): Promise<Origin> {
    const origin = new Origin(await freePort(), { ...settings, DB_PATH: databasePath });
    origins.add(origin);
    await origin.start();
    return origin;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    const env = {
      PATH: process.env.PATH,
      PORT: String(this.#port),
      ADMIN_PORT: "0",
      ...this.#environment,
      TOKEN_SIGNING_KEYS: tokenSigningKey,
      SIGNING_KEYS: signingKey,
      EDGE_KEYS: edgeKeys,
    };
    const stdio: ["ignore", "pipe", "inherit"] = ["ignore", "pipe", "inherit"];
    const child = spawn("bun", ["--no-env-file", main], { env, stdio, detached: true });
    this.#process = child;
    const ended = once(child, "exit").then(() => Promise.reject(new Error("The origin did not start")));
    await Promise.race([once(child.stdout, "data"), ended]);
    ended.catch(() => {}); // it will end later, when it is killed
  }

  /** Sends a request to the origin itself, signed as the edge signs. */
  fetch(target: string, method = "GET"): Promise<Response> {
    const [kid = "", key = ""] = edgeKeys.split(":");
    const minute = Math.floor(Date.now() / 60_000);
    const payload = ["trendvault-edge", "v2", kid, minute].join("\n");
    const mac = createHmac("sha256", Buffer.from(key, "base64url")).update(payload).digest("base64url");
    const headers = { "x-edge-signature": `v2.${kid}.${minute}.${mac}` };
    return fetch(`${this.url}${target}`, { method, headers });
  }

  /** Ends the origin and its workers at once. */
  async kill(): Promise<void> {
    if (this.killGroup() && this.#process !== undefined) await once(this.#process, "exit");
  }

  /** The same at the very end, when nothing can be waited for. False when there was nothing to end. */
  killGroup(): boolean {
    const child = this.#process;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return false;
    return process.kill(-child.pid, "SIGKILL");
  }
}
