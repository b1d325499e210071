import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../../edge-worker/test/free-port.ts";

const program = join(import.meta.dirname, "../../../.tools/bin/versitygw");
const startMs = 120_000; // a quiet machine needs a tenth of a second

/** What a client of the store needs. */
export type Credentials = { accessKeyId: string; secretAccessKey: string; region: string };

/** Why there is no S3 server here, or null when there is one: `tools/setup/bring versitygw` brings it. */
export function missingServer(): string | null {
  return existsSync(program)
    ? null
    : "versitygw is not installed: `tools/setup/bring versitygw` says why it cannot be";
}

const servers = new Set<S3Server>();
process.once("exit", () => {
  for (const server of servers) server.killNow();
});

/** versitygw on a folder, on a port and with credentials that stay its own, so that it can be killed and come back. */
export class S3Server {
  readonly credentials: Credentials = {
    accessKeyId: randomBytes(10).toString("hex"),
    secretAccessKey: randomBytes(20).toString("hex"),
    region: "auto",
  };
  readonly url: string;
  readonly #port: number;
  readonly #folder: string;
  /** Metadata in files of their own, for a file system without extended attributes. */
  #sidecar = false;
  #child: ChildProcess | undefined;

  private constructor(port: number, folder: string) {
    this.#port = port;
    this.#folder = folder;
    this.url = `http://127.0.0.1:${port}`;
  }

  /** `folder` is where the buckets are (default: a new one, removed with the server). */
  static async start({ bucket, folder }: { bucket: string; folder?: string }): Promise<S3Server> {
    const missing = missingServer();
    if (missing !== null) throw new Error(missing);
    const server = new S3Server(await freePort(), folder ?? mkdtempSync(join(tmpdir(), "trendvault-store-")));
    servers.add(server);
    for (const name of ["buckets", "sidecar"]) mkdirSync(join(server.#folder, name), { recursive: true });
    mkdirSync(join(server.#folder, "buckets", bucket), { recursive: true });
    await server.start();
    return server;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Starts it, and waits until it answers. @throws Error with its log when it ends */
  async start(): Promise<void> {
    const child = this.#spawn();
    this.#child = child;
    const deadline = Date.now() + startMs;
    while (!(await this.#answers())) {
      if (child.exitCode !== null && !this.#sidecar) {
        this.#sidecar = true;
        return this.start();
      }
      if (child.exitCode !== null || Date.now() > deadline)
        throw new Error(`versitygw did not start: ${readFileSync(this.#logPath, "utf8").slice(-500)}`);
      await new Promise((resume) => setTimeout(resume, 10));
    }
  }

  /** SIGKILL. What it answered with 200 is on the disk. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (!this.killNow() || child === undefined) return;
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  }

  /** The same, when nothing can be waited for. False when there was nothing to end. */
  killNow(): boolean {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return false;
    return child.kill("SIGKILL");
  }

  /** Kills it and removes its folder. */
  async remove(): Promise<void> {
    await this.kill();
    servers.delete(this);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #logPath(): string {
    return join(this.#folder, "versitygw.log");
  }

  #spawn(): ChildProcess {
    const { accessKeyId, secretAccessKey, region } = this.credentials;
    const words = ["--port", `127.0.0.1:${this.#port}`, "--region", region, "--health", "/health", "--quiet"];
    const sidecar = this.#sidecar ? ["--sidecar", join(this.#folder, "sidecar")] : [];
    const log = openSync(this.#logPath, "a");
    return spawn(program, [...words, "posix", ...sidecar, join(this.#folder, "buckets")], {
      env: { ROOT_ACCESS_KEY: accessKeyId, ROOT_SECRET_KEY: secretAccessKey, HOME: this.#folder },
      stdio: ["ignore", log, log],
    });
  }

  #answers(): Promise<boolean> {
    return fetch(`${this.url}/health`, { signal: AbortSignal.timeout(1000) }).then(
      ({ ok }) => ok,
      () => false, // not listening yet
    );
  }
}
