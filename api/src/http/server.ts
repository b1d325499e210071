import { type Answer, detached } from "../serving/answer.ts";
import { ReceivedHead, type RequestHead, readHead } from "./request-head.ts";

type BadHead = Exclude<ReturnType<typeof readHead>, ReceivedHead | null>;

type ServerOptions = {
  hostname: string;
  /** 0: one that the system chooses. Several processes may share it. */
  port: number;
  answer: (head: RequestHead) => Answer | Promise<Answer>;
  /** The answer in place of what `answer` has thrown. */
  answerFailure: (error: unknown) => Answer;
  /** The answer to what is no request. */
  answerBadHead: (bad: BadHead) => Answer;
  /** What all time limits are counted in; for tests. */
  sweepMs?: number;
};

const usualSweepMs = 2500;
const idleSweeps = 24; // a minute: longer than an edge keeps a connection between two requests
const firstSweeps = 5; // from connecting to the first byte
const headSweeps = 12; // half a minute from the first byte of a head to its last
const closingSweeps = 2; // for the client to close its side, after the last answer
const lastTurns = 5; // of the event loop, after the port is closed: for requests that are on their way;
const mostLastTurns = 50; // for the first request of who connected when others were sent away
const longestWaitMs = 100; // for a turn in which nobody asks, before the port is closed
const lastTurnMs = 20; // longer when this process has no processor
const mostInTurn = 1024; // of the event loop; counted on through short ones, where who is put off waits for nothing
const mostOfClient = 64; // heads that came together, in a turn
const mostHeld = 65_536; // bytes that a client may send ahead of an answer

/** What is known of a connection. Of its client nothing is. */
class Connection {
  /** Received and not answered yet: the beginning of a head, or all that came while an answer was under way. */
  held = "";
  /** What the system has not taken yet of an answer. */
  unsent: Uint8Array[] = [];
  /** Whether an answer is built, or sent, or put off. */
  isBusy = false;
  /** Whether what is held waits for the next turn of the event loop only. */
  isLate = false;
  /** Whether nothing is answered after what is under way: what comes is thrown away. */
  isLast = false;
  /** Whether the client has closed its side. */
  hasEnded = false;
  /** In which sweep something went on: what is late is found without a clock, which may be set. */
  since: number;
  /** Whether it was opened when the server was draining already. */
  readonly isNew: boolean;

  constructor(since: number, isNew: boolean) {
    this.since = since;
    this.isNew = isNew;
  }
}

type Client = Bun.Socket<Connection>;

/**
 * HTTP/1.1 over TCP (RFC 9112), for requests without a body: one after the other on each connection, answered in their
 * order. A connection ends with a request that has a body, or that cannot be read: what follows it is no request.
 * Nothing is waited for without a bound: no head, no next request, no client that does not read.
 */
export class HttpServer {
  readonly #options: ServerOptions;
  readonly #listener: Bun.TCPSocketListener<Connection>;
  readonly #clients = new Set<Client>();
  readonly #sweeper: NodeJS.Timeout;
  #sweeps = 0;
  #received = 0;
  readonly #late: Client[] = [];
  #isDraining = false;
  #onEmpty = () => {};

  /** @throws Error when it cannot listen, with the `code` of the system */
  constructor(options: ServerOptions) {
    this.#options = options;
    this.#listener = Bun.listen<Connection>({
      hostname: options.hostname,
      port: options.port,
      ...listening,
      socket: {
        open: (client) => this.#open(client),
        data: (client, bytes) => this.#receive(client, bytes),
        drain: (client) => this.#sendRest(client),
        end: (client) => this.#end(client),
        close: (client) => this.#forget(client),
        error: (client, error) => this.#fail(client, error),
      },
    });
    this.#sweeper = setInterval(() => this.#sweep(), options.sweepMs ?? usualSweepMs);
  }

  get port(): number {
    return this.#listener.port;
  }

  /** How many clients are connected. */
  get connections(): number {
    return this.#clients.size;
  }

  /** From now on every answer closes its connection. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Listens no more after a moment, closes what is idle, and waits for the answers of the others. */
  async stop(): Promise<void> {
    this.drain();
    await this.#untilNobodyAsks();
    this.#listener.stop();
    for (let turn = 1; turn <= mostLastTurns && this.#clients.size > 0; turn++) {
      await Bun.sleep(lastTurnMs);
      if (turn >= lastTurns) this.#endIdle(turn < mostLastTurns);
    }
    if (this.#clients.size > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#onEmpty = resolve;
      await promise;
    }
    clearInterval(this.#sweeper);
  }

  // Closing the port resets every connection that Linux has not handed over yet. So it is closed right after a look in
  // which nobody asked: who gets an answer may connect again at once. (Linux can do better: docs/operations/install.md.)
  async #untilNobodyAsks(): Promise<void> {
    const until = performance.now() + longestWaitMs;
    for (let before = -1; before !== this.#received && performance.now() < until; ) {
      before = this.#received;
      for (let time = 1; time <= 2; time++) await new Promise(setImmediate); // the first may come before the look
    }
  }

  // Not by #close: some never close their side. Who is new and has asked was sent away.
  #endIdle(isNewSpared: boolean): void {
    for (const client of this.#clients) {
      const { isNew, isBusy, isLast, held, unsent } = client.data;
      const isIdle = !isBusy && held === "" && !(isNew && isNewSpared);
      if (isLast ? unsent.length === 0 : isIdle) client.end();
    }
  }

  #open(client: Client): void {
    client.data = new Connection(this.#sweeps - idleSweeps + firstSweeps, this.#isDraining);
    this.#clients.add(client);
  }

  #forget(client: Client): void {
    this.#clients.delete(client);
    if (this.#clients.size === 0) this.#onEmpty();
  }

  #receive(client: Client, bytes: Buffer): void {
    const connection = client.data;
    if (connection.isLast) return;
    const text = bytes.toString("latin1");
    const { held } = connection;
    if (connection.isLate) {
      client.pause();
      connection.held = held + text;
    } else if (connection.isBusy) {
      hold(client, held + text);
    } else if (held === "") {
      connection.since = this.#sweeps;
      if (++this.#received > mostInTurn) this.#putOff(client, text);
      else this.#answerAll(client, text);
    } else {
      connection.held = "";
      this.#answerAll(client, held + text, held.length);
      if (connection.held === "") connection.since = this.#sweeps;
    }
  }

  // While more than a thousand connections ask, Bun reads from 48 times a thousand before it looks at timers and at what
  // other threads have done: half a second. Who is put off does not ask again, and the turn ends.
  #putOff(client: Client, text: string): void {
    client.data.isBusy = true;
    client.data.isLate = true;
    client.data.held = text;
    if (this.#late.push(client) === 1) setImmediate(() => this.#answerLate());
  }

  #answerLate(): void {
    this.#received = 0;
    for (const client of this.#late.splice(0)) {
      try {
        this.#goOn(client);
      } catch (error) {
        this.#fail(client, error);
      }
    }
  }

  /** Answers the heads in what was received. `searched`: how much of it was read before. */
  #answerAll(client: Client, received: string, searched = 0): void {
    let from = searched;
    let heads = 0;
    for (let text: string | null = received; text !== null && text !== ""; from = 0) {
      if (++heads > mostOfClient) {
        this.#putOff(client, text);
        return;
      }
      text = this.#answerFirst(client, text, from);
    }
  }

  /** Answers the first head, and gives what follows it; null where that has to wait, or is nothing. */
  #answerFirst(client: Client, text: string, searched: number): string | null {
    const head = readHead(text, searched);
    if (head === null) return this.#waitForRest(client, text, searched > 0);
    if (!(head instanceof ReceivedHead)) return this.#refuse(client, text, head);
    const answer = this.#ask(head);
    if (answer instanceof Promise) return this.#answerLater(client, head, answer);
    if (this.#send(client, head, answer)) return head.rest;
    if (!client.data.isLast) hold(client, head.rest);
    return null;
  }

  #ask(head: ReceivedHead): Answer | Promise<Answer> {
    try {
      return this.#options.answer(head);
    } catch (error) {
      return this.#options.answerFailure(error);
    }
  }

  // The client waits for it, and what it sends meanwhile waits in the system.
  #answerLater(client: Client, head: ReceivedHead, answer: Promise<Answer>): null {
    client.data.isBusy = true;
    if (!head.isLast) hold(client, head.rest);
    client.pause();
    void answer
      .catch(this.#options.answerFailure)
      .then((made) => {
        if (this.#send(client, head, made)) this.#goOn(client);
      })
      .catch((error) => this.#fail(client, error));
    return null;
  }

  #waitForRest(client: Client, text: string, isContinued: boolean): null {
    if (!isContinued) client.data.since = this.#sweeps;
    hold(client, text);
    if (client.data.hasEnded) this.#close(client);
    return null;
  }

  #refuse(client: Client, text: string, bad: BadHead): null {
    const method = /^(?:\r\n)?HEAD(?: |$)/.test(text) ? "HEAD" : "";
    this.#send(client, new ReceivedHead(method, "/", true), this.#options.answerBadHead(bad));
    return null;
  }

  /** Whether the next request may be answered: all was sent, and it was not the last. */
  #send(client: Client, { method, isLast: isAskedLast }: ReceivedHead, answer: Answer): boolean {
    const second = Math.floor(Date.now() / 1000);
    const isLast = isAskedLast || this.#isDraining;
    const hasBody = method !== "HEAD";
    const bytes = isLast || !hasBody ? answer.write({ second, isLast, hasBody }) : answer.bytesAt(second);
    if (isLast) client.data.isLast = true;
    for (let index = 0; index < bytes.length; index++) {
      const part = bytes[index] as Uint8Array;
      const sent = client.write(part);
      if (sent === part.length) continue;
      if (sent < 0) client.terminate();
      else this.#keepUnsent(client, [part, ...bytes.slice(index + 1)], sent);
      return false;
    }
    if (isLast) this.#close(client);
    return !isLast;
  }

  #keepUnsent(client: Client, [first, ...others]: [Uint8Array, ...Uint8Array[]], sent: number): void {
    const { data: connection } = client;
    const dated = first.slice(sent, longestDate); // others get another date
    const rest = first.subarray(Math.max(sent, longestDate));
    connection.unsent = [dated, rest, ...others];
    connection.isBusy = true;
    connection.since = this.#sweeps;
    client.pause();
  }

  #sendRest(client: Client): void {
    const { data: connection } = client;
    if (connection.unsent.length === 0) return;
    connection.since = this.#sweeps;
    for (let part = connection.unsent[0]; part !== undefined; part = connection.unsent[0]) {
      const sent = client.write(part);
      if (sent < 0) {
        client.terminate();
        return;
      }
      if (sent < part.length) {
        connection.unsent[0] = part.subarray(sent);
        return;
      }
      connection.unsent.shift();
    }
    if (connection.isLast) this.#close(client);
    else this.#goOn(client);
  }

  /** Reads again, after an answer that was waited for. */
  #goOn(client: Client): void {
    const { data: connection } = client;
    const { held } = connection;
    connection.isBusy = false;
    connection.isLate = false;
    connection.held = "";
    connection.since = this.#sweeps;
    client.resume();
    this.#answerAll(client, held);
    if (connection.hasEnded && !connection.isBusy) this.#close(client);
  }

  #end(client: Client): void {
    client.data.hasEnded = true;
    if (!client.data.isBusy) this.#close(client);
  }

  // Closed while there is something to read, the system would reset the connection, and the answer could be lost.
  #close(client: Client): void {
    const { data: connection } = client;
    connection.isLast = true;
    connection.held = "";
    connection.since = this.#sweeps;
    if (connection.hasEnded) client.end();
    else {
      client.resume();
      client.shutdown();
    }
  }

  #fail(client: Client, error: unknown): void {
    this.#options.answerFailure(error);
    client.terminate();
  }

  #sweep(): void {
    this.#sweeps++;
    for (const client of this.#clients) {
      const { since, isLast, held, unsent } = client.data;
      if (this.#sweeps - since <= mostSweeps(client.data)) continue;
      if (isLast || unsent.length > 0) client.terminate();
      else if (held !== "") this.#refuse(client, held, tooLate);
      else this.#close(client);
    }
  }
}

/** Keeps what has to wait, without the rest of what it came with. A client that sends too much ahead is cut off. */
function hold(client: Client, text: string): void {
  if (text.length > mostHeld) client.terminate();
  else client.data.held = detached(text);
}

/** For how long nothing may go on. */
function mostSweeps({ isLast, isBusy, held, unsent }: Connection): number {
  if (unsent.length > 0) return idleSweeps;
  if (isLast) return closingSweeps;
  if (isBusy) return Infinity; // an answer is built
  return held === "" ? idleSweeps : headSweeps;
}

// Who has closed one side gets the answer.
const listening = { allowHalfOpen: true, reusePort: true };

const longestDate = 128; // bytes: up to there is the field Date

const tooLate: BadHead = { status: 408, sentence: "Expected all fields within half a minute." };
