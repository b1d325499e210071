import type { ChildProcess } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, openSync, readFileSync, rmSync } from "node:fs";
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { freePort, killLaunched, launch, newFolder, root } from "./machine.ts";

const program = join(root, ".tools/bin/versitygw");
const startMs = 600_000; // a quiet machine needs a tenth of a second

/** What a client of the store needs. */
type Credentials = { accessKeyId: string; secretAccessKey: string; region: string };

/** Why there is no S3 server here, or null when there is one: `tools/setup/bring versitygw` brings it. */
export function missingServer(): string | null {
  return existsSync(program)
    ? null
    : "versitygw is not installed: `tools/setup/bring versitygw` says why it cannot be";
}

/** versitygw on a folder, on a port and with credentials that stay its own, so that it can be killed and come back. */
class S3Server {
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
    const server = new S3Server(await freePort(), folder ?? newFolder("store"));
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
    if (this.#child !== undefined) await killLaunched(this.#child);
  }

  /** Kills it and removes its folder. */
  async remove(): Promise<void> {
    await this.kill();
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
    return launch([program, ...words, "posix", ...sidecar, join(this.#folder, "buckets")], {
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

type Stored = { key: string; etag: string; body: Buffer };

const most = 200;
const mostBytes = 64 * 2 ** 20;

/** What was put through the proxy, so that an older or another object can be served in place of the one asked for. */
class RememberedObjects {
  #objects: Stored[] = [];
  #bytes = 0;

  add(object: Stored): void {
    this.#objects.push(object);
    this.#bytes += object.body.length;
    while (this.#objects.length > most || this.#bytes > mostBytes)
      this.#bytes -= this.#objects.shift()?.body.length ?? 0;
  }

  /** The oldest that was stored under the key. */
  oldest(key: string): Stored | null {
    return this.#objects.find((object) => object.key === key) ?? null;
  }

  /** The newest that was stored in the same folder under another key. */
  neighbour(key: string): Stored | null {
    const isNeighbour = (object: Stored) => object.key !== key && dirname(object.key) === dirname(key);
    return this.#objects.findLast(isNeighbour) ?? null;
  }
}

/**
 * What a store may do wrong. `status` answers with an S3 error; `full` is that for a store without space;
 * `garbage` answers 200 with random bytes; `truncated` ends the connection in the middle of the body, `short` sends less
 * of it and says so; `slow` waits before the answer; `hang` gives none; `lying-etag` names another entity tag;
 * `unanswered` does what was asked and ends the connection without an answer; `lost` answers a PUT with 200 and stores
 * nothing; `older` answers with what the key held first, `swapped` with what another key of the same folder holds.
 */
type Fault =
  | { kind: "status"; status: number; code?: string }
  | { kind: "slow"; milliseconds: number }
  | {
      kind:
        | "full"
        | "garbage"
        | "truncated"
        | "short"
        | "hang"
        | "lying-etag"
        | "unanswered"
        | "lost"
        | "older"
        | "swapped";
    };

/** Which requests a fault is for: `methods` (default all), keys that match the regular expression `keys` (default all). */
export type FaultRule = Fault & { methods?: string[]; keys?: string; times?: number };

/** What a rule is compared with: `key` without the bucket. */
type Question = { method: string; key: string };

/** A fault of every kind, for tests that draw one. */
export const everyFault: readonly Fault[] = [
  { kind: "status", status: 500, code: "InternalError" },
  { kind: "status", status: 503, code: "SlowDown" },
  { kind: "status", status: 403, code: "AccessDenied" },
  { kind: "status", status: 404, code: "NoSuchKey" },
  { kind: "slow", milliseconds: 1500 },
  { kind: "full" },
  { kind: "garbage" },
  { kind: "truncated" },
  { kind: "short" },
  { kind: "hang" },
  { kind: "lying-etag" },
  { kind: "unanswered" },
  { kind: "lost" },
  { kind: "older" },
  { kind: "swapped" },
];

/** The rules that are in force. A rule with `times` is gone after it was used so often. */
class FaultRules {
  #rules: FaultRule[] = [];

  add(rule: FaultRule): void {
    this.#rules.push({ ...rule });
  }

  clear(): void {
    this.#rules = [];
  }

  /** The first rule for a request, used up once; null when the request is to be answered as it should be. */
  take({ method, key }: Question): Fault | null {
    const rule = this.#rules.find(
      ({ methods, keys }) => (methods?.includes(method) ?? true) && new RegExp(keys ?? "").test(key),
    );
    if (rule === undefined) return null;
    if (rule.times !== undefined && --rule.times <= 0) this.#rules.splice(this.#rules.indexOf(rule), 1);
    return rule;
  }
}

type Answer = { status: number; headers: OutgoingHttpHeaders; body: Buffer };

/** An S3 error. */
function errorAnswer(status: number, code: string): Answer {
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${code}</Message></Error>`;
  return answerOf(status, Buffer.from(text), { "content-type": "application/xml" });
}

/** What a store answers that has stored the body. */
function storedAnswer(body: Buffer): Answer {
  return answerOf(200, Buffer.alloc(0), { etag: `"${createHash("md5").update(body).digest("hex")}"` });
}

/** What a fault makes of a whole answer to a request for `key`. A refusal stays what it is. */
function faultyAnswer(
  answer: Answer,
  { fault, key, remembered }: { fault: Fault | null; key: string; remembered: RememberedObjects },
): Answer {
  if (answer.status !== 200 && answer.status !== 206) return answer;
  switch (fault?.kind) {
    case "garbage":
      return { ...answer, body: randomBytes(answer.body.length) };
    case "short":
      return answerOf(answer.status, answer.body.subarray(0, answer.body.length / 2), answer.headers);
    case "lying-etag":
      return { ...answer, headers: { ...answer.headers, etag: `"${randomBytes(16).toString("hex")}"` } };
    case "older":
      return inPlaceOf(answer, remembered.oldest(key));
    case "swapped":
      return inPlaceOf(answer, remembered.neighbour(key));
    default:
      return answer;
  }
}

function inPlaceOf(answer: Answer, object: { etag: string; body: Buffer } | null): Answer {
  if (object === null || answer.body.length === 0) return answer;
  return answerOf(200, object.body, { ...answer.headers, etag: object.etag });
}

function answerOf(status: number, body: Buffer, headers: OutgoingHttpHeaders): Answer {
  return { status, headers: { ...headers, "content-length": body.length }, body };
}

type Asked = Question & { target: string; headers: IncomingMessage["headers"]; body: Buffer };

/** One request to the store, as the proxy saw it: `status` is 0 where no answer was given. */
type Exchange = Question & { status: number; fault: Fault["kind"] | null };

/** Makes a signed address of an object, for requests that are not signed. */
type Presign = (key: string) => string;

/**
 * In front of an S3 server: passes on what clients ask, byte for byte (it is signed), and misbehaves as it is told. Who
 * does not sign may read, if `presign` is given: that is how tests show the store to what reads through a binding.
 */
class FaultProxy {
  readonly rules = new FaultRules();
  /** Every request, in order. */
  readonly exchanges: Exchange[] = [];
  readonly #server: Server;
  readonly #storeUrl: string;
  readonly #remembered = new RememberedObjects();
  readonly #presign: Presign | undefined;

  private constructor(storeUrl: string, presign?: Presign) {
    this.#storeUrl = storeUrl;
    this.#presign = presign;
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(storeUrl: string, presign?: Presign): Promise<FaultProxy> {
    const proxy = new FaultProxy(storeUrl, presign);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url: target = "", headers } = request;
    const key = keyOf(target);
    const fault = this.rules.take({ method, key });
    const exchange: Exchange = { method, key, status: 0, fault: fault?.kind ?? null };
    this.exchanges.push(exchange);
    try {
      const asked = { method, key, target, headers, body: Buffer.concat(await request.toArray()) };
      if (fault?.kind === "hang") return; // until the client has waited long enough
      const answer = await this.#answer(asked, fault);
      if (fault?.kind === "unanswered") return void request.socket.destroy();
      exchange.status = answer.status;
      send(response, answer, fault);
    } catch {
      request.socket.destroy(); // without a store, the client has no connection either
    }
  }

  async #answer(asked: Asked, fault: Fault | null): Promise<Answer> {
    const isPut = asked.method === "PUT";
    if (fault?.kind === "status") return errorAnswer(fault.status, fault.code ?? "InternalError");
    if (fault?.kind === "full" && isPut) return errorAnswer(507, "InsufficientStorage");
    if (fault?.kind === "lost" && isPut) return storedAnswer(asked.body);
    if (fault?.kind === "slow") await new Promise((resume) => setTimeout(resume, fault.milliseconds));
    return faultyAnswer(await this.#pass(asked), { fault, key: asked.key, remembered: this.#remembered });
  }

  async #pass({ method, key, target, headers, body }: Asked): Promise<Answer> {
    const isSigned = headers.authorization !== undefined || target.includes("X-Amz-Signature=");
    const outgoing =
      isSigned || this.#presign === undefined
        ? httpRequest(new URL(target, this.#storeUrl), { method, headers })
        : httpRequest(this.#presign(key), { headers: { ...headers, host: new URL(this.#storeUrl).host } });
    outgoing.end(body);
    const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
    const status = incoming.statusCode ?? 0;
    const received = Buffer.concat(await incoming.toArray());
    const etag = String(incoming.headers.etag ?? "");
    if (method === "PUT" && status === 200) this.#remembered.add({ key, etag, body });
    return { status, headers: { ...incoming.headers }, body: received };
  }
}

function send(response: ServerResponse, { status, headers, body }: Answer, fault: Fault | null): void {
  response.writeHead(status, headers);
  if (fault?.kind !== "truncated") return void response.end(body);
  response.write(body.subarray(0, body.length / 2), () => response.socket?.destroy());
}

/** Of the path /bucket/key. */
function keyOf(target: string): string {
  const [path = ""] = target.split("?");
  return decodeURIComponent(path).replace(/^\/[^/]*\/?/, "");
}

const bucket = "trendvault";
const prefix = "lists";

/**
 * A real S3 server and a proxy in front of it that misbehaves as it is told. Writers and readers under test get
 * `settings`; `direct` passes the proxy by, for what somebody does to the bucket by hand.
 */
export class TestStore {
  /** Like s3://trendvault/lists: what PUBLISH_URL and bin/follow take. */
  readonly address = `s3://${bucket}/${prefix}`;
  readonly prefix = `${prefix}/`;

  private constructor(
    readonly server: S3Server,
    readonly proxy: FaultProxy,
  ) {}

  /** `folder` is where the buckets are (default: a new one). @throws Error when there is no S3 server here */
  static async start({ folder }: { folder?: string } = {}): Promise<TestStore> {
    const server = await S3Server.start({ bucket, ...(folder === undefined ? {} : { folder }) });
    return new TestStore(server, await FaultProxy.start(server.url, presigner(server)));
  }

  /** Where the bucket's objects can be read through the proxy without a signature, in Bun. */
  get readUrl(): string {
    return `${this.proxy.url}/${bucket}`;
  }

  /** The settings of writers and readers that reach the store through the proxy. */
  get settings(): Record<string, string> {
    const { accessKeyId, secretAccessKey, region } = this.server.credentials;
    return {
      S3_ENDPOINT_URL: this.proxy.url,
      S3_REGION: region,
      S3_ACCESS_KEY_ID: accessKeyId,
      S3_SECRET_ACCESS_KEY: secretAccessKey,
    };
  }

  /** Options of Bun's S3Client, past the proxy; keys begin with `prefix`. */
  get direct() {
    const { url, credentials } = this.server;
    return { endpoint: url, bucket, ...credentials };
  }

  async remove(): Promise<void> {
    await this.proxy.stop();
    await this.server.remove();
  }
}

function presigner({ url, credentials }: S3Server): ((key: string) => string) | undefined {
  if (typeof Bun === "undefined") return undefined;
  const client = new Bun.S3Client({ endpoint: url, bucket, ...credentials });
  return (key) => client.presign(key);
}
