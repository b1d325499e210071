import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { freePort, newFolder } from "@trendvault/kit/machine";

/** What the store does to an answer; null leaves it as it is. */
export type Fault = (request: { name: string; body: Buffer }) => Response | Promise<Response> | null;

/** Objects in a folder, behind as much of S3 as a reader needs, which misbehaves as it is told. */
export class TestStore {
  readonly folder = newFolder("follow");
  readonly address = "s3://trendvault/lists";
  fault: Fault | null = null;
  /** How far the store's clock is ahead. */
  clockSeconds = 0;
  /** Names of the objects that were asked for, with the status. */
  readonly requests: { name: string; status: number }[] = [];
  readonly #port: number;
  #server: Bun.Server<undefined>;

  private constructor(port: number) {
    this.#port = port;
    this.#server = this.#serve(port);
  }

  /** Listens on a port that stays its own while it is stopped. */
  static async create(): Promise<TestStore> {
    return new TestStore(await freePort());
  }

  get settings() {
    return {
      S3_ENDPOINT_URL: `http://127.0.0.1:${this.#port}`,
      S3_ACCESS_KEY_ID: "reader",
      S3_SECRET_ACCESS_KEY: "reader's secret",
    };
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  read(name: string): Buffer {
    return readFileSync(this.path(name));
  }

  write(name: string, bytes: Uint8Array | string): void {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), bytes);
  }

  delete(name: string): void {
    rmSync(this.path(name));
  }

  /** Ends all connections; nothing listens until `start`. */
  async stop(): Promise<void> {
    await this.#server.stop(true);
  }

  start(): void {
    this.#server = this.#serve(this.#port);
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #serve(port: number): Bun.Server<undefined> {
    return Bun.serve({
      port,
      hostname: "127.0.0.1",
      development: false,
      fetch: async (request) => {
        const url = new URL(request.url);
        const name = url.pathname.replace(/^\/trendvault\/(lists\/)?/, "");
        const response = await this.#answer(request, name);
        this.requests.push({ name, status: response.status });
        response.headers.set("date", new Date(Date.now() + this.clockSeconds * 1000).toUTCString());
        return response;
      },
    });
  }

  async #answer(request: Request, name: string): Promise<Response> {
    const { searchParams } = new URL(request.url);
    if (!searchParams.has("X-Amz-Signature") && !request.headers.has("authorization"))
      return refusal(403, "AccessDenied");
    if (searchParams.get("list-type") === "2") return this.#list(searchParams.get("prefix") ?? "");
    const path = this.path(name);
    const isThere = existsSync(path) && statSync(path).isFile();
    const body = isThere ? readFileSync(path) : Buffer.alloc(0);
    const changed = await this.fault?.({ name, body });
    if (changed) return changed;
    if (!isThere) return refusal(404, "NoSuchKey");
    const etag = `"${new Bun.CryptoHasher("md5").update(body).digest("hex")}"`;
    if (request.headers.get("if-none-match") === etag) return new Response(null, { status: 304 });
    return new Response(body, { headers: { etag } });
  }

  #list(prefix: string): Response {
    const names = readdirSync(this.folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => `lists${join(entry.parentPath, entry.name).slice(this.folder.length)}`)
      .filter((name) => name.startsWith(prefix));
    const contents = names.map((name) => `<Contents><Key>${name}</Key></Contents>`).join("");
    return new Response(
      `<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated>${contents}</ListBucketResult>`,
    );
  }
}

export function refusal(status: number, code: string): Response {
  return new Response(`<?xml version="1.0"?><Error><Code>${code}</Code></Error>`, { status });
}
