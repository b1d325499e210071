import { afterEach, expect, setSystemTime, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { testTime } from "@trendvault/kit/origin";
import { drawsOf, Random, testSeed } from "@trendvault/kit/random";
import { Answer } from "../serving/answer.ts";
import { ReceivedHead, type RequestHead, readHead } from "./request-head.ts";
import { HttpServer } from "./server.ts";

const plain = { "content-type": "text/plain" };
const kept = new Answer(200, { ...plain, etag: '"kept"' }, "kept");
const notModified = new Answer(304, { etag: '"kept"' }, null);
const big = new Answer(
  200,
  plain,
  new Uint8Array(16_000_000).map((_, index) => index % 251),
);
const failed = new Answer(500, plain, "failed");

/** What the server answers to a target; those that are built are there some turns later. */
function answerOf({ method, target, ifNoneMatch, acceptLanguage }: RequestHead): Answer {
  if (method !== "GET" && method !== "HEAD") return new Answer(405, plain, method);
  if (/^\/(throws|rejects)/.test(target)) return failed;
  if (target === "/big") return big;
  if (target === "/kept") return ifNoneMatch === null ? kept : notModified;
  return new Answer(200, plain, `${target} ${acceptLanguage}`);
}

function answer(head: RequestHead): Answer | Promise<Answer> {
  if (head.target === "/throws") throw new Error("thrown");
  if (head.target === "/rejects") return later(head.target).then(() => Promise.reject(new Error("rejected")));
  return head.target.startsWith("/built") ? later(head.target).then(() => answerOf(head)) : answerOf(head);
}

async function later(target: string): Promise<void> {
  for (let turn = 0; turn < target.length % 4; turn++) await new Promise(setImmediate);
}

function answerBadHead({ status, sentence }: { status: number; sentence: string }): Answer {
  return new Answer(status, refusalFields, `${sentence}\n`);
}

let server: HttpServer;
const errors: unknown[] = [];

const never = 1_000_000_000; // milliseconds

function open(sweepMs = never, ask = answer): void {
  const answerFailure = (error: unknown) => {
    errors.push(error);
    return failed;
  };
  const answers = { answer: ask, answerFailure, answerBadHead };
  server = new HttpServer({ hostname: "127.0.0.1", port: 0, ...answers, sweepMs });
}

const clients = new Set<Client>();

afterEach(async () => {
  setSystemTime();
  for (const client of clients) client.reset();
  clients.clear();
  await server.stop();
  errors.length = 0;
});

/** A client that reads when it is told to. */
class Client {
  readonly #socket: Socket;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  /** Whether the server has closed its side well: with no reset. */
  readonly ended: Promise<boolean>;
  readonly #ended = Promise.withResolvers<boolean>();
  #onData = () => {};

  constructor() {
    this.ended = this.#ended.promise;
    this.#socket = connect({ host: "127.0.0.1", port: server.port, allowHalfOpen: true, noDelay: true });
    this.#socket.on("error", () => this.#ended.resolve(false));
    this.#socket.on("close", () => this.#ended.resolve(false));
    this.#socket.on("end", () => this.#ended.resolve(true));
    clients.add(this);
  }

  read(): this {
    this.#socket.on("data", (bytes: Buffer) => {
      this.#chunks.push(bytes);
      this.#bytes += bytes.length;
      this.#onData();
    });
    return this;
  }

  get received(): string {
    return Buffer.concat(this.#chunks).toString("latin1");
  }

  /** Waits until so many bytes were received. */
  async until(bytes: number): Promise<void> {
    while (this.#bytes < bytes)
      await new Promise<void>((resolve) => {
        this.#onData = resolve;
      });
  }

  /** Sends bytes and waits until the system has them. */
  send(bytes: string): Promise<void> {
    return new Promise((resolve) => this.#socket.write(bytes, "latin1", () => resolve()));
  }

  close(): void {
    this.#socket.end();
  }

  reset(): void {
    this.#socket.resetAndDestroy();
  }
}

/** Sends bytes in pieces, each after the server has seen those before; all that came until the connection was closed. */
async function exchange(pieces: readonly string[]): Promise<string> {
  const client = new Client().read();
  for (const piece of pieces) {
    await client.send(piece);
    await new Promise(setImmediate);
  }
  client.close();
  expect(await client.ended, "it was reset").toBe(true);
  return client.received;
}

const random = new Random();
const draws = drawsOf({ usual: 150, long: 10_000 });

const heads = [
  ..."GET /kept,GET /built/a,GET /built/abc,HEAD /built/ab,GET /rejects,GET /throws,HEAD /kept,GET /other".split(
    ",",
  ),
  ..."OPTIONS *,POST /,BREW /,GET http://b/kept".split(","),
].map((line) => `${line} HTTP/1.1\r\nHost: a\r\n`);
const others = [
  "",
  "If-None-Match: x\r\n",
  "Content-Length: 0\r\n",
  `X: ${"x".repeat(3000)}\r\n`,
  "Accept-Language: \xe9\xff\r\n",
];
const lasts = [
  "Content-Length: 3\r\n\r\nabc",
  "Connection: close\r\n\r\n",
  "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
];
const tooLong = `GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(16_400)}`;
const bad = [
  "GET /\r\n\r\n",
  "GET / HTTP/1.1\r\n\r\n",
  "HEAD / HTTP/1.1\r\n\r\n",
  "\r\nHEAD /# HTTP/1.1\r\nHost: a\r\n\r\n",
  "\xa0HEAD / HTTP/1.1\r\nHost: a\r\n\r\n",
  "\x16\x03",
  "GET / HTTP/1.1\nHost: a\n\n",
  "GET / HTTP/3.0\r\n\r\n",
  `${tooLong}\r\n\r\n`,
  `${tooLong}\0`,
];

function drawRequest(): string {
  if (random.below(20) === 0) return random.pick(bad);
  if (random.below(20) === 0) return "GET /kept HTTP/1.0\r\n\r\n";
  const start = random.pick(["", "", "", "\r\n"]) + random.pick(heads) + random.pick(others);
  return random.below(15) === 0 ? start + random.pick(lasts) : `${start}\r\n`;
}

/** What comes back for requests, to the first that is the last of its connection. */
function expectedOf(requests: readonly string[]): string {
  const second = Math.floor(testTime / 1000);
  let all = "";
  for (const request of requests) {
    const head = readHead(request);
    const isGood = head instanceof ReceivedHead;
    const isLast = !isGood || head.isLast;
    const made = isGood
      ? answerOf(head)
      : new Answer(head?.status ?? 0, refusalFields, `${head?.sentence}\n`);
    all += join(made.write({ second, isLast, hasBody: !/^(\r\n)?HEAD /.test(request) }));
    if (isLast) break;
  }
  return all;
}

const refusalFields = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" };

function join(parts: readonly Uint8Array[]): string {
  return Buffer.concat([...parts]).toString("latin1");
}

/** Cuts a text anywhere, or between some of the requests that it is made of. */
function cut(requests: readonly string[]): string[] {
  const text = requests.join("");
  const ends = requests.map((_, index) => requests.slice(0, index + 1).join("").length);
  const longest = random.pick([3, 40, 400]);
  const pieces: string[] = [];
  for (let [from, to] = [0, 0]; from < text.length; from = to) {
    const end = ends[random.below(ends.length)] ?? 0;
    const isBetween = end > from && random.below(2) === 0;
    to = isBetween ? end : from + 1 + random.below(pieces.length < 200 ? longest : text.length);
    pieces.push(text.slice(from, to));
  }
  return pieces;
}

test(`however requests are cut into pieces, each is answered in its order and with its own answer (seed ${testSeed})`, async () => {
  open();
  setSystemTime(testTime);
  for (let draw = 0; draw < draws; draw++) {
    const requests = Array.from({ length: 1 + random.below(8) }, drawRequest);
    const text = requests.join("");
    const expected = expectedOf(requests);
    expect(await exchange([text]), JSON.stringify(text)).toBe(expected);
    const pieces = cut(requests);
    expect(await exchange(pieces), JSON.stringify(pieces)).toBe(expected);
  }
});

test(`clients that reset at any time leave nothing behind (seed ${testSeed})`, async () => {
  open();
  for (let draw = 0; draw < draws; draw++) {
    const client = new Client();
    if (random.below(2) === 0) client.read();
    const requests = Array.from({ length: random.below(4) }, drawRequest).join("");
    await client.send(
      requests.slice(0, random.below(requests.length + 1)) +
        random.pick(["", "GET /big HTTP/1.1\r\nHost: a\r\n\r\n"]),
    );
    for (let turn = random.below(4); turn > 0; turn--) await new Promise(setImmediate);
    client.reset();
  }
  await server.stop(); // waits for all connections
  expect(errors.map(String).filter((error) => !/thrown|rejected/.test(error))).toEqual([]);
});

const get = (target: string, fields = "") => `GET ${target} HTTP/1.1\r\nHost: a\r\n${fields}\r\n`;

test.each([
  "GET /built/abc HTTP/1.0\r\n\r\n",
  "GET /big HTTP/1.0\r\n\r\n",
  "GET /\r\n\r\n",
  "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nab",
])("after %j nothing is left of a connection as soon as both sides have closed it", async (request) => {
  open();
  const client = new Client().read();
  await client.send(request);
  expect(await client.ended).toBe(true);
  client.close();
  clients.delete(client);
  await server.stop();
});

test("while more connections ask than the system tells of at once, the event loop has its turns", async () => {
  const [connections, asked] = [1500, 60_000];
  let [answers, seen, most] = [0, 0, 0];
  open(never, (head) => {
    answers++;
    return answerOf(head);
  });
  const ask = (socket: Bun.Socket) => {
    if (answers < asked) socket.write("GET /kept HTTP/1.1\r\nHost: a\r\n\r\n");
  };
  const where = { hostname: "127.0.0.1", port: server.port, socket: { data: ask } };
  const sockets = await Promise.all(Array.from({ length: connections }, () => Bun.connect(where)));
  for (const socket of sockets) ask(socket);
  while (answers < asked) {
    await new Promise(setImmediate);
    most = Math.max(most, answers - seen);
    seen = answers;
  }
  for (const socket of sockets) socket.terminate();
  expect(most).toBeLessThan(3 * connections);
});

test("requests that came together are answered in turns of the event loop, with others between", async () => {
  let [inTurn, most, asked] = [0, 0, 0];
  open(never, (head) => {
    most = Math.max(most, ++inTurn);
    asked++;
    return answerOf(head);
  });
  const client = new Client().read();
  await client.send(get("/kept").repeat(1000));
  while (asked < 1000) {
    inTurn = 0;
    await new Promise(setImmediate);
  }
  expect(most).toBeLessThanOrEqual(128); // of two turns, at most
});

test("a body is thrown away, however long it is, and its request is answered", async () => {
  for (const body of [1, 65_537, 300_000]) {
    open(never, (head) => later("/two").then(() => answerOf(head)));
    const client = new Client().read();
    await client.send(get("/kept", `Content-Length: ${body}\r\n`) + "x".repeat(body));
    client.close();
    expect(await client.ended).toBe(true);
    expect(client.received).toStartWith("HTTP/1.1 200 OK");
    await server.stop();
  }
});

test("what fails is answered with a failure, and told, and the connection stays open", async () => {
  open();
  const received = await exchange([get("/throws") + get("/rejects") + get("/kept")]);
  expect(received.match(/ [0-9]{3} /g)).toEqual([" 500 ", " 500 ", " 200 "]);
  expect(errors.map(String)).toEqual(["Error: thrown", "Error: rejected"]);
});

test("what cannot be sent ends its connection, and is told", async () => {
  const wrong = null as unknown as Answer;
  open(never, ({ target }) => (target === "/now" ? wrong : Promise.resolve(wrong)));
  for (const target of ["/now", "/later"]) {
    const client = new Client().read();
    await client.send(get(target));
    expect(await client.ended).toBe(false);
  }
  expect(errors.map((error) => (error as Error).name)).toEqual(["TypeError", "TypeError"]);
});

function bytesOf(answers: readonly Answer[], now = testTime): string {
  const second = Math.floor(now / 1000);
  return join(answers.flatMap((each) => each.write({ second })));
}

test("an answer has the date of its second, though its bytes are kept", async () => {
  open();
  const client = new Client().read();
  let expected = "";
  for (const now of [testTime, testTime + 999, testTime + 1000, testTime - 5000]) {
    setSystemTime(now);
    expected += bytesOf([kept], now);
    await client.send(get("/kept"));
    await client.until(expected.length);
  }
  expect(client.received).toBe(expected);
});

function heapBytes(): number {
  Bun.gc(true);
  return process.memoryUsage().heapUsed;
}

test("a body that many are slow to read is not copied, and comes whole with its own date", async () => {
  open();
  setSystemTime(testTime);
  const slow = Array.from({ length: 30 }, () => new Client());
  const before = heapBytes();
  await Promise.all(slow.map((client) => client.send(get("/big") + get("/kept"))));
  await exchange([get("/big")]);
  setSystemTime(testTime + 1000);
  await exchange([get("/big") + get("/kept")]); // another date for what is kept
  expect(heapBytes() - before).toBeLessThan(6 * 16_000_000);
  const expected = bytesOf([big]) + bytesOf([kept], testTime + 1000);
  for (const client of slow.slice(0, 3)) {
    await client.read().until(expected.length);
    expect(client.received === expected).toBe(true);
    client.reset();
  }
});

test("an answer that a client is slow to take keeps its date, and those after it have theirs", async () => {
  let asked = 0;
  open(never, () => {
    asked++;
    return kept;
  });
  setSystemTime(testTime);
  const client = new Client();
  let sent = 0;
  for (; asked === sent; sent += 500) {
    await client.send(get("/kept").repeat(500));
    for (let turn = 0; turn < 100 && asked < sent + 500; turn++) await new Promise(setImmediate);
  }
  const before = asked;
  setSystemTime(testTime + 1000);
  await exchange([get("/kept")]); // another date for what is kept
  const expected = bytesOf([kept]).repeat(before) + bytesOf([kept], testTime + 1000).repeat(sent - before);
  await client.read().until(expected.length);
  expect(client.received === expected).toBe(true);
});

test("what a client sends while a long body comes is answered after it, though it closes its side then", async () => {
  open();
  setSystemTime(testTime);
  for (const pieces of [
    ["GET /kept HT", "TP/1.1\r\nHost: a\r\n", "\r\n"],
    [get("/kept"), "GET"],
  ]) {
    const client = new Client().read();
    await client.send(get("/big"));
    for (const [index, piece] of pieces.entries()) {
      await client.until((index + 1) * 3_000_000);
      await client.send(piece);
    }
    client.close();
    expect(await client.ended).toBe(true);
    expect(client.received === bytesOf([big, kept])).toBe(true);
  }
});

test("a client that sends more than 64 KB ahead of an answer is cut off, and one that sends less is answered", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  open(never, (head) => promise.then(() => answerOf(head)));
  const [some, many] = [new Client().read(), new Client().read()];
  await some.send(get("/kept").repeat(1000));
  await many.send(get("/kept").repeat(20_000));
  expect(await many.ended).toBe(false);
  resolve();
  await some.until(bytesOf([kept]).length * 1000);
});

test("of what a client has sent only the beginning of its next head is kept", async () => {
  open();
  const bytes = `${get("/none", `X: ${"x".repeat(16_000)}\r\n`).repeat(31)}GET /`;
  const answers = bytesOf([answerOf(readHead(get("/none")) as ReceivedHead)]).repeat(31);
  const before = heapBytes();
  for (let count = 0; count < 400; count++) {
    const client = new Client().read();
    await client.send(bytes);
    await client.until(answers.length);
  }
  expect(heapBytes() - before).toBeLessThan(30_000_000);
});

test.each([
  ["nothing", ""],
  ["requests, and reads no answer", get("/big")],
  ["the beginning of a head", "GET / HT"],
  ["a body, and does not close its side", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nab"],
])("a client that sends %s is not waited for", async (_what, bytes) => {
  open(1);
  const client = new Client();
  await client.send(bytes);
  await server.stop();
});

test("an unfinished head is answered with 408, and an idle connection is closed", async () => {
  open(1);
  const [half, idle] = [new Client().read(), new Client().read()];
  await half.send(`${get("/kept")}GET /kept HT`);
  expect(await half.ended).toBe(true);
  expect(await idle.ended).toBe(true);
  expect(half.received.match(/ [0-9]{3} /g)).toEqual([" 200 ", " 408 "]);
});

test("a head that comes a byte at a time has its time from its first byte", async () => {
  open(1);
  const client = new Client().read();
  let hasEnded = false;
  void client.ended.then(() => {
    hasEnded = true;
  });
  await client.send("GET /kept HTTP/1.1\r\nX: ");
  while (!hasEnded) {
    await client.send("x");
    await new Promise(setImmediate);
  }
  expect(client.received).toStartWith("HTTP/1.1 408 ");
});

test("an answer is built for as long as that takes", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  open(1, (head) => promise.then(() => answerOf(head)));
  const [idle, waiting] = [new Client().read(), new Client().read()];
  await waiting.send(get("/slow"));
  expect(await idle.ended).toBe(true);
  resolve();
  expect(await waiting.ended).toBe(true);
  expect(waiting.received).toEndWith("/slow null");
});

test("a draining server closes each connection with its answer", async () => {
  open();
  const client = new Client().read();
  await client.send(get("/kept"));
  await client.until(1);
  server.drain();
  await client.send(get("/kept") + get("/kept"));
  expect(await client.ended).toBe(true);
  expect(client.received.match(/ [0-9]{3} |connection: close/g)).toEqual([
    " 200 ",
    " 200 ",
    "connection: close",
  ]);
});

test("a server that stops closes what is idle, and waits for the answers under way", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  open(never, (head) => (head.target === "/kept" ? kept : promise.then(() => answerOf(head))));
  const [idle, waiting, half] = [new Client().read(), new Client().read(), new Client().read()];
  await idle.send(get("/kept"));
  await waiting.send(get("/kept") + get("/slow"));
  await half.send(`${get("/kept")}GET /kept HTTP`);
  for (const client of [idle, waiting, half]) await client.until(bytesOf([kept]).length);
  const stopped = server.stop();
  expect(await idle.ended).toBe(true);
  resolve();
  await half.send("/1.1\r\nHost: a\r\n\r\n");
  for (const client of [waiting, half]) {
    expect(await client.ended).toBe(true);
    expect(client.received).toContain("connection: close\r\n");
  }
  for (const client of [idle, waiting, half]) client.close();
  clients.clear();
  await stopped;
  expect(await new Client().read().ended).toBe(false);
});

test("a server that stops answers who connected just now, and waits for nobody who keeps a connection", async () => {
  open();
  const [fresh, idle, last] = [new Client().read(), new Client().read(), new Client().read()];
  await last.send(get("/built/abc", "Connection: close\r\n"));
  await idle.send(get("/kept"));
  expect(await last.ended).toBe(true);
  await idle.until(bytesOf([kept]).length);
  server.drain();
  const [late, _silent, sentAway] = [new Client().read(), new Client(), new Client().read()];
  await sentAway.send(get("/kept"));
  await sentAway.ended; // then the server knows the one before, too
  const queued = new Client().read(); // Linux has connected it, and hands it over in the server's next turn
  const stopped = server.stop();
  await fresh.send(get("/kept"));
  await queued.send(get("/kept"));
  expect(await idle.ended).toBe(true);
  await late.send(get("/kept"));
  await stopped;
  for (const client of [fresh, queued, late]) {
    expect(await client.ended).toBe(true);
    expect(client.received).toEndWith("connection: close\r\n\r\nkept");
  }
});
