import { once } from "node:events";
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { type Fault, FaultRules, type Question } from "./faults.ts";
import { type Answer, errorAnswer, faultyAnswer, storedAnswer } from "./faulty-answer.ts";
import { RememberedObjects } from "./remembered-objects.ts";

type Asked = Question & { target: string; headers: IncomingMessage["headers"]; body: Buffer };

/** One request to the store, as the proxy saw it: `status` is 0 where no answer was given. */
export type Exchange = Question & { status: number; fault: Fault["kind"] | null };

/** Makes a signed address of an object, for requests that are not signed. */
type Presign = (key: string) => string;

/**
 * In front of an S3 server: passes on what clients ask, byte for byte (it is signed), and misbehaves as it is told. Who
 * does not sign may read, if `presign` is given: that is how tests show the store to what reads through a binding.
 */
export class FaultProxy {
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
