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
