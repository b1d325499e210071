import { once } from "node:events";
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { signAgain, type WholeResponse } from "./keys.ts";

/** What the proxy does with a response: pass it on (perhaps changed), or do something else with the connection. */
export type Behaviour = (
  whole: WholeResponse,
  target: string,
  response: ServerResponse,
) => WholeResponse | "handled" | Promise<WholeResponse | "handled">;

export const passOn: Behaviour = (whole) => whole;

/** A proxy between the edge and the origin: it records the requests to the origin, and can misbehave. */
export class OriginProxy {
  /** The target of every request of the edge, in order. */
  targets: string[] = [];
  /** The headers of every request of the edge, in order. */
  readonly headers: IncomingMessage["headers"][] = [];
  /** Every body that was passed on, by target. */
  readonly bodies = new Map<string, Set<string>>();
  behaviour: Behaviour = passOn;
  readonly #server: Server;
  readonly #originUrl: string;

  private constructor(originUrl: string) {
    this.#originUrl = originUrl;
    this.#server = createServer((request, response) => this.#pass(request, response));
  }

  static async start(originUrl: string): Promise<OriginProxy> {
    const proxy = new OriginProxy(originUrl);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get url(): string {
    const { port } = this.#server.address() as { port: number };
    return `http://127.0.0.1:${port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = request.url ?? "";
    this.targets.push(target);
    this.headers.push(request.headers);
    try {
      const whole = await this.behaviour(await this.#fetch(request), target, response);
      if (whole === "handled") return;
      this.#record(target, whole.body.toString());
      response.writeHead(whole.status, whole.headers).end(whole.body);
    } catch {
      response.destroy(); // without an origin, the edge has no connection either
    }
  }

  async #fetch(request: IncomingMessage): Promise<WholeResponse> {
    const outgoing = httpRequest(new URL(request.url ?? "", this.#originUrl), { headers: request.headers });
    outgoing.end();
    const [response] = (await once(outgoing, "response")) as [IncomingMessage];
    const body = Buffer.concat(await response.toArray());
    const headers = { ...(response.headers as Record<string, string>) };
    return { status: response.statusCode ?? 0, headers, body };
  }

  #record(target: string, body: string): void {
    const bodies = this.bodies.get(target) ?? new Set();
    this.bodies.set(target, bodies.add(body));
  }
}

/** For tests that nothing is revalidated in, however busy the machine is. */
export const longLifetimes = { maxAge: 3600, staleWhileRevalidate: 3600, staleIfError: 43_200 };

/**
 * Passes responses on with other lifetimes, in seconds, signed with the origin's key: the edge takes them from the
 * origin, so tests need not wait. A lifetime of 0 is over at once.
 */
export function withLifetimes(lifetimes: {
  maxAge: number;
  staleWhileRevalidate: number;
  staleIfError: number;
}): Behaviour {
  const { maxAge, staleWhileRevalidate, staleIfError } = lifetimes;
  const field = [
    `max-age=${maxAge}`,
    `stale-while-revalidate=${staleWhileRevalidate}`,
    `stale-if-error=${staleIfError}`,
  ].join(", ");
  return (whole) => signAgain({ ...whole, headers: { ...whole.headers, "trendvault-cache-control": field } });
}
