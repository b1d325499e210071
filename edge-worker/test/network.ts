import { once } from "node:events";
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";

/** An answer of the origin, whole. */
export type Answer = { status: number; headers: Record<string, string>; body: Buffer };

/** What the network does with one answer: hand it on (perhaps changed), or do as it likes with the connection. */
export type Behaviour = (
  answer: Answer,
  target: string,
  response: ServerResponse,
) => Answer | "handled" | Promise<Answer | "handled">;

export const asItIs: Behaviour = (answer) => answer;

/** What lies between the edge and the origin: it counts what reaches the origin, and can go wrong. */
export class Network {
  /** Every target that the edge asked for, in order. */
  asked: string[] = [];
  /** Every body that was handed on, by target. */
  readonly bodies = new Map<string, Set<string>>();
  behaviour: Behaviour = asItIs;
  readonly #server: Server;
  readonly #originUrl: string;

  private constructor(originUrl: string) {
    this.#originUrl = originUrl;
    this.#server = createServer((request, response) => this.#pass(request, response));
  }

  static async start(originUrl: string): Promise<Network> {
    const network = new Network(originUrl);
    network.#server.listen(0, "127.0.0.1");
    await once(network.#server, "listening");
    return network;
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
    this.asked.push(target);
    try {
      const answer = await this.behaviour(await this.#ask(request), target, response);
      if (answer === "handled") return;
      this.#note(target, answer.body.toString());
      response.writeHead(answer.status, answer.headers).end(answer.body);
    } catch {
      response.destroy(); // the origin is not there: neither is the connection
    }
  }

  async #ask(request: IncomingMessage): Promise<Answer> {
    const asking = httpRequest(new URL(request.url ?? "", this.#originUrl), { headers: request.headers });
    asking.end();
    const [answer] = (await once(asking, "response")) as [IncomingMessage];
    const body = Buffer.concat(await answer.toArray());
    return {
      status: answer.statusCode ?? 0,
      headers: { ...(answer.headers as Record<string, string>) },
      body,
    };
  }

  #note(target: string, body: string): void {
    const bodies = this.bodies.get(target) ?? new Set();
    this.bodies.set(target, bodies.add(body));
  }
}
