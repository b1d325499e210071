import { connect } from "node:net";
import type { Socket } from "bun";

export type RawResponse = { status: number; head: string; body: string };

/** One keep-alive HTTP/1.1 connection that hides nothing: no retries, no pool, failures are thrown. */
export class RawClient {
  readonly #port: number;
  #socket: Socket | null = null;
  #received = "";
  #waiting: PromiseWithResolvers<RawResponse> | null = null;

  constructor(url: string) {
    this.#port = Number(new URL(url).port);
  }

  get isOpen(): boolean {
    return this.#socket !== null;
  }

  async get(target: string, headers = ""): Promise<RawResponse> {
    this.#socket ??= await this.#connect();
    this.#waiting = Promise.withResolvers();
    this.#socket.write(`GET ${target} HTTP/1.1\r\nHost: origin.test\r\n${headers}\r\n`);
    const response = await this.#waiting.promise;
    this.#waiting = null;
    if (/^connection: close$/im.test(response.head)) this.close();
    return response;
  }

  close(): void {
    this.#socket?.end();
    this.#socket = null;
  }

  #connect(): Promise<Socket> {
    this.#received = "";
    return Bun.connect({
      hostname: "127.0.0.1",
      port: this.#port,
      socket: {
        binaryType: "buffer",
        data: (_socket, bytes) => this.#receive(bytes.toString("latin1")),
        close: (socket) => this.#lose(socket, new Error("connection closed before the response")),
        error: (socket, error) => this.#lose(socket, error),
      },
    });
  }

  #receive(text: string): void {
    this.#received += text;
    const end = this.#received.indexOf("\r\n\r\n");
    if (end === -1) return;
    const head = this.#received.slice(0, end);
    const length = Number(/^content-length: ([0-9]+)$/im.exec(head)?.[1] ?? 0);
    const body = this.#received.slice(end + 4, end + 4 + length);
    if (body.length < length) return;
    this.#received = this.#received.slice(end + 4 + length);
    this.#waiting?.resolve({ status: Number(head.slice(9, 12)), head, body });
  }

  #lose(socket: Socket, error: Error): void {
    if (socket === this.#socket || this.#socket === null) this.#waiting?.reject(error);
    if (socket === this.#socket) this.#socket = null;
  }
}

/**
 * Sends bytes over a connection of its own, waits for so many whole responses, closes its side, and gives everything
 * that came back until the connection was closed. The origin may close it earlier.
 */
export async function exchange(url: string, bytes: string | Uint8Array, responses = 1): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let received = "";
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port: Number(new URL(url).port),
    socket: {
      data(connection, data) {
        received += data.toString("latin1");
        if (countWhole(received) >= responses) connection.end();
      },
      close: () => resolve(),
      error: () => resolve(),
    },
  });
  socket.write(bytes);
  await promise;
  return received;
}

/** Sends bytes, closes its side at once, and gives everything that came back until the other side is closed, too. */
export function exchangeHalfClosed(url: string, bytes: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let received = "";
  const socket = connect({ host: "127.0.0.1", port: Number(new URL(url).port), allowHalfOpen: true });
  socket.on("data", (data) => {
    received += data.toString("latin1");
  });
  socket.on("close", () => resolve(received));
  socket.on("error", () => resolve(received));
  socket.on("end", () => socket.destroy());
  socket.end(bytes);
  return promise;
}

/** The status codes of the responses in what came back; a body ends without a line feed. */
export function statusesIn(received: string): number[] {
  return [...received.matchAll(/HTTP\/1\.1 ([0-9]{3}) /g)].map(([, status]) => Number(status));
}

// A body is as long as Content-Length says; without one there is none.
function countWhole(received: string): number {
  let [count, from] = [0, 0];
  for (let end = received.indexOf("\r\n\r\n"); end !== -1; end = received.indexOf("\r\n\r\n", from)) {
    const length = /^content-length: ([0-9]+)\r$/im.exec(received.slice(from, end + 2))?.[1] ?? "0";
    from = end + 4 + Number(length);
    if (from > received.length) return count;
    count++;
  }
  return count;
}

type LoadResult = { answers: number; failures: string[] };

export type LoadOptions = {
  connections: number;
  targets: string[];
  check: (response: RawResponse) => string | null;
  reconnect?: boolean;
  /** Gives the header fields of the next request, each with its line end. */
  headers?: () => string;
};

const pauseMs = 4; // after each answer: what is tested beside the load needs the processor, too

/**
 * Requests targets over keep-alive connections until it is stopped. `check` returns what is wrong with an answer,
 * or null. A connection that was closed is opened again, unless `reconnect` is false.
 */
export function startLoad(
  url: string,
  { connections, targets, check, reconnect = true, headers }: LoadOptions,
) {
  const result: LoadResult = { answers: 0, failures: [] };
  let running = true;
  const run = async (offset: number) => {
    const client = new RawClient(url);
    for (let turn = offset; running && (reconnect || turn === offset || client.isOpen); turn++) {
      try {
        const failure = check(await client.get(targets[turn % targets.length] ?? "/", headers?.()));
        if (failure !== null) result.failures.push(failure);
        else result.answers++;
      } catch (error) {
        result.failures.push(String(error));
        client.close();
      }
      await Bun.sleep(pauseMs);
    }
    client.close();
  };
  const all = Promise.all(Array.from({ length: connections }, (_, offset) => run(offset)));
  return {
    result,
    async stop(): Promise<LoadResult> {
      running = false;
      await all;
      return result;
    },
  };
}

/** Every answer is a whole list of one generation: ranks without gaps, as many items as it says. */
export function checkWholeList({ status, body }: RawResponse): string | null {
  if (status !== 200) return `status ${status}: ${body.slice(0, 200)}`;
  const page = JSON.parse(body) as {
    count: number;
    generation: number;
    items: { rank: number; title: string }[];
  };
  const first = page.items[0]?.rank ?? 1;
  const isWhole =
    page.items.length === page.count && page.items.every(({ rank }, index) => rank === first + index);
  const titles = new Set(page.items.map(({ title }) => title.split(" ")[0]));
  return isWhole && titles.size <= 1 ? null : `torn list in generation ${page.generation}`;
}
