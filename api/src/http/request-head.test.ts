import { expect, test } from "bun:test";
import { edgeSignatureHeader } from "@trendvault/contract/request-signatures";
import { drawsOf, Random, testSeed } from "@trendvault/kit/random";
import { ReceivedHead, readHead } from "./request-head.ts";

const random = new Random();
const draws = drawsOf({ usual: 20_000, long: 1_000_000 });

const methods = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PURGE", "SEARCH"];
const targets = [
  "/",
  "/api/trending?region=GB&limit=3",
  "/a/../b;c=%2e%00",
  "//two",
  "/x?http://other.test/",
  "http://other.test/api/trending",
  "HTTPS://other.test:8080?x",
  "http://[::1]",
  "http://other.test/api?u=http://b/",
];
const read = {
  edgeSignature: edgeSignatureHeader,
  accept: "accept",
  acceptEncoding: "accept-encoding",
  acceptLanguage: "accept-language",
  ifNoneMatch: "if-none-match",
  traceparent: "traceparent",
} as const;
const others = ["X", "Cookie", "User-Agent", "Hosts", "Accept-Charset", "If-None-Matches", "!#$%&'*+-.^_`|~"];
const values = ["", "a", "gzip, br;q=0.5", "*/*", '"x", W/"y"', "a:b", "\xe9\xff", "a\tb  c", ",", "close"];

function letters(name: string): string {
  return random.pick([name, name.toUpperCase(), name.replace(/^./, (first) => first.toUpperCase())]);
}

function field(): string {
  const name = random.pick(random.below(3) === 0 ? others : Object.values(read));
  return `${letters(name)}:${random.pick(["", " ", "\t "])}${random.pick(values)}${random.pick(["", " ", " \t"])}`;
}

/** What frames a message, and is not always valid together. */
function framing(): string {
  const value = random.pick(["0", "3", "00", "+3", "3, 3", "0x3", "", "chunked", "Chunked", "gzip", "close"]);
  return `${letters(random.pick(["Content-Length", "Transfer-Encoding", "Connection"]))}: ${value}`;
}

function drawHead(): string {
  const fields = Array.from({ length: random.below(6) }, field);
  fields.splice(
    random.below(fields.length + 1),
    0,
    `${letters("host")}: ${random.pick(["a", "", "[::1]:80"])}`,
  );
  const line = `${random.pick(methods)} ${random.pick(targets)} HTTP/1.${random.pick([1, 1, 1, 0])}`;
  return `${[line, ...fields].join("\r\n")}\r\n\r\n`;
}

const pieces = [
  "\r",
  "\n",
  "\r\n",
  "\0",
  " ",
  "\t",
  ":",
  "\x7f",
  "\x80",
  ",",
  "\v",
  "\f",
  "/",
  "#",
  "@",
  "%",
  "1",
  "a",
];

/** A head with up to three mistakes in it, which may make it another valid one. */
function drawMutant(): string {
  let text = drawHead();
  for (let count = random.below(3); count > 0; count--) {
    const at = text.indexOf("\r\n") + 2;
    text = `${text.slice(0, at)}${framing()}\r\n${text.slice(at)}`;
  }
  for (let count = random.below(4); count > 0; count--) {
    const at = random.below(text.length);
    const piece = random.pick([...pieces, "", text.slice(at, at + random.below(20))]);
    text = text.slice(0, at) + piece + text.slice(at + random.below(3));
  }
  return text;
}

type Message = { method: string; target: string; fields: string[] };

/** The requests that Node.js reads from bytes (llhttp, which Bun has, too); null: it refuses them. */
function readLikeNode(text: string): Message[] | null {
  const { HTTPParser } = (process as unknown as { binding(name: string): LlhttpBinding }).binding(
    "http_parser",
  );
  const { methods: names } = require("node:_http_common") as { methods: string[] };
  const parser = new HTTPParser();
  const messages: Message[] = [];
  let fields: string[] = [];
  let target = "";
  parser.initialize(HTTPParser.REQUEST, {});
  parser[HTTPParser.kOnHeaders] = (some: string[], url: string) => {
    fields.push(...some);
    target += url;
  };
  parser[HTTPParser.kOnHeadersComplete] = (...[, , all, method, url]: HeadersComplete) => {
    messages.push({ method: names[method] ?? "", target: url ?? target, fields: all ?? fields });
    fields = [];
    target = "";
    return 0;
  };
  parser[HTTPParser.kOnMessageComplete] = () => {};
  const consumed = parser.execute(Buffer.from(text, "latin1"));
  parser.close();
  return consumed === text.length ? messages : null;
}

type HeadersComplete = [number, number, string[] | undefined, number, string | undefined];
type Llhttp = Record<number, unknown> & {
  initialize(kind: number, resource: object): void;
  execute(bytes: Buffer): number | Error;
  close(): void;
};
type LlhttpBinding = {
  HTTPParser: { new (): Llhttp } & Record<
    "REQUEST" | `kOn${"Headers" | "HeadersComplete" | "MessageComplete"}`,
    number
  >;
};

function fieldOf({ fields }: Message, name: string): string | null {
  const found = fields.filter((_, index) => index % 2 === 1 && fields[index - 1]?.toLowerCase() === name);
  return found.length === 0 ? null : found.map((value) => value.replace(/[ \t]+$/, "")).join(", ");
}

/** What a head says, as it is compared. */
function said(head: ReceivedHead): Record<string, string | null> {
  const fields = Object.keys(read).map((key) => [key, head[key as keyof typeof read]]);
  return { method: head.method, target: head.target, ...Object.fromEntries(fields) };
}

function saidToNode(message: Message): Record<string, string | null> {
  const target = message.target.replace(/^https?:\/\/[^/?#]*\/?/i, "/");
  const fields = Object.entries(read).map(([key, name]) => [key, fieldOf(message, name)]);
  return { method: message.method, target, ...Object.fromEntries(fields) };
}

const next = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n";

test(`what is accepted, Node.js accepts and reads the same, and nothing after it as its body (seed ${testSeed})`, () => {
  let accepted = 0;
  for (let draw = 0; draw < draws; draw++) {
    const text = drawMutant();
    const head = readHead(text);
    if (!(head instanceof ReceivedHead) || !methods.includes(head.method)) continue;
    if (/chunked *\t/i.test(text)) continue; // llhttp takes no tab there
    const messages = readLikeNode(text.slice(0, text.length - head.rest.length) + (head.isLast ? "" : next));
    const seen = JSON.stringify(text);
    expect(messages, seen).not.toBeNull();
    expect(saidToNode(messages?.[0] as Message), seen).toEqual(said(head));
    if (!head.isLast) expect(messages?.map(({ target }) => target).slice(1), seen).toEqual(["/next"]);
    accepted++;
  }
  expect(accepted).toBeGreaterThan(draws / 20);
});

test(`a well-formed head is accepted, and no beginning of it is refused (seed ${testSeed})`, () => {
  for (let draw = 0; draw < draws; draw++) {
    const text = drawHead();
    const seen = JSON.stringify(text);
    expect(readHead(text), seen).toBeInstanceOf(ReceivedHead);
    expect(readHead(text.slice(0, random.below(text.length))), seen).toBeNull();
  }
});

test(`however the bytes come in pieces, the same head or mistake is read, with the same rest (seed ${testSeed})`, () => {
  for (let draw = 0; draw < draws; draw++) {
    const text = drawMutant() + random.pick(["", "", next, "GET"]);
    let [searched, length] = [0, 0];
    let read: ReturnType<typeof readHead> = null;
    while (read === null && length < text.length) {
      [searched, length] = [length, length + 1 + random.below(random.pick([2, 30]))];
      read = readHead(text.slice(0, length), searched);
    }
    if (read instanceof ReceivedHead) read.rest += text.slice(length);
    expect(all(read), JSON.stringify(text)).toEqual(all(readHead(text)));
  }
});

/** What was read, with the fields that are looked for when somebody asks. */
function all(read: ReturnType<typeof readHead>): unknown {
  return read instanceof ReceivedHead ? { ...read, ...said(read) } : read;
}

const get = "GET / HTTP/1.1\r\n";
const host = "Host: a\r\n";

// Status 200 is "accepted", 0 "not whole yet". The sections are those of RFC 9112.
const sized = (bytes: number) => `${get}${host}X: ${"x".repeat(bytes - 32)}\r\n\r\n`;

const heads: [what: string, text: string, status: number][] = [
  ["one that says nothing of a body", `${get}${host}\r\n`, 200],
  ["HTTP/1.0 without a Host (3.2)", "GET / HTTP/1.0\r\n\r\n", 200],
  ["no Host (3.2)", `${get}\r\n`, 400],
  ["two Hosts (3.2)", `${get}${host}host: a\r\n\r\n`, 400],
  ["an invalid Host (3.2)", `${get}Host: a/b\r\n\r\n`, 400],
  ["two addresses in a Host (3.2)", `${get}Host: a, b c\r\n\r\n`, 400],
  ["HTTP/2.0 (2.3)", `GET / HTTP/2.0\r\n${host}\r\n`, 505],
  ["HTTP/1.2 (2.3)", `GET / HTTP/1.2\r\n${host}\r\n`, 505],
  ["http/1.1 (2.3)", `GET / http/1.1\r\n${host}\r\n`, 400],
  ["no version (3)", "GET /\r\n\r\n", 400],
  ["a bare line feed (2.2)", `${get}Host: a\n\r\n`, 400],
  ["a bare carriage return (2.2)", `${get}${host}X: a\rb\r\n\r\n`, 400],
  ["a folded field (5.2)", `${get}${host} b\r\n\r\n`, 400],
  ["a blank before the colon (5.1)", `${get}${host}X : b\r\n\r\n`, 400],
  ["a blank before the first field (2.2)", `${get} X: b\r\n${host}\r\n`, 400],
  ["two blanks in the request line (3)", `GET  / HTTP/1.1\r\n${host}\r\n`, 400],
  ["a field without a name (5)", `${get}${host}: b\r\n\r\n`, 400],
  ["a target with a byte that is no ASCII (3.2)", `GET /\xe9 HTTP/1.1\r\n${host}\r\n`, 400],
  ["a target with a fragment (3.2)", `GET /#x HTTP/1.1\r\n${host}\r\n`, 400],
  ["a control character", `${get}${host}X: a\x01b\r\n\r\n`, 400],
  ["a head behind it", `${get}${host}\r\n${get}${host}\r\n`, 200],
  ["an empty line before it (2.2)", `\r\n${get}${host}\r\n`, 200],
  ["no end", `${get}${host}`, 0],
  ["16,384 bytes", sized(16_384), 200],
  ["16,385 bytes", sized(16_385), 431],
  ["16,385 bytes and no end", sized(16_389).slice(0, -4), 431],
  ["two lengths (6.3)", `${get}${host}Content-Length: 3\r\nContent-Length: 3\r\n\r\n`, 400],
  ["a list of lengths (6.3)", `${get}${host}Content-Length: 3, 3\r\n\r\n`, 400],
  ["a length with a sign (6.3)", `${get}${host}Content-Length: +3\r\n\r\n`, 400],
  ["a length and chunks (6.1)", `${get}${host}Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n`, 400],
  ["chunks and a length (6.1)", `${get}${host}Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n`, 400],
  ["chunks twice (7.1)", `${get}${host}Transfer-Encoding: chunked, chunked\r\n\r\n`, 400],
  ["an unknown coding (6.1)", `${get}${host}Transfer-Encoding: xchunked\r\n\r\n`, 400],
];

test.each(heads)("of a head with %s is said so", (_what, text, status) => {
  const head = readHead(text);
  expect(head instanceof ReceivedHead ? 200 : (head?.status ?? 0)).toBe(status);
});

test.each([
  ["", false],
  ["Content-Length: 0\r\n", false],
  ["Content-Length: 1\r\n", true],
  ["Transfer-Encoding: Chunked\r\n", true],
  ["Connection: keep-alive\r\n", false],
  ["Connection: closed\r\n", false],
  ["Connection: te\t, CLOSE ,x\r\n", true],
  ["Connection: te\r\nConnection: close\r\n", true],
])("after a request with the fields %j another is read, or not", (fields, isLast) => {
  expect(readHead(`${get}${host}${fields}\r\n`)).toMatchObject({ isLast });
});

test.each([
  ["CONNECT a:443", "/"],
  ["OPTIONS *", "/"],
  ["GET *", null],
  ["GET api", null],
  ["GET ?x", null],
  ["GET http:///x", null],
  ["GET ftp://a/x", null],
  ["GET http://user@a/x", null],
  ["GET http://a?x/y", "/?x/y"],
  ["GET http://a/b?c", "/b?c"],
])("the target of %j is %j (RFC 9112, section 3.2)", (line, target) => {
  const head = readHead(`${line} HTTP/1.1\r\n${host}\r\n`);
  expect(head instanceof ReceivedHead ? head.target : null).toBe(target);
});

test.each([
  ["GET / HTTP/1.1\nHost", 400],
  [`${get}${host}\n`, 400],
  [`${get}X: a\rb`, 400],
  ["\x16\x03\x01", 400],
  ["GET / HTTP/1.1 x\r\n", 400],
  ["GET / HTTP/11.1\r\n", 400],
  ["GET / HTTP/1.1\r", 0],
  ["GET / x", 0],
])("the beginning %j is refused, or the rest is waited for", (text, status) => {
  const head = readHead(text);
  expect(head instanceof ReceivedHead ? 200 : (head?.status ?? 0)).toBe(status);
});

const long = ["Host", "Connection", "Content-Length", "X", ...Object.values(read)].flatMap((name) =>
  [" ", "\t", " ,", ",", "a", "a ", "close", '"', "\r\nX:", `\r\n${name}:`].flatMap((filler) =>
    ["", "@"].map((end) => (bytes: number) => {
      const value = filler.repeat(bytes / filler.length) + end;
      return `${get}${name === "Host" ? "" : host}${name}:${value}\r\n\r\n`;
    }),
  ),
);

/** Microseconds of a processor that it takes to read a head of each kind, of so many bytes, so often. */
function readingTime(bytes: number, times: number): number {
  const texts = long.map((write) => write(bytes));
  const before = process.cpuUsage();
  for (let time = 0; time < times; time++) for (const text of texts) all(readHead(text));
  return process.cpuUsage(before).user;
}

test("a head of sixteen times the length takes about sixteen times as long, and no power of it", () => {
  readingTime(1000, 16);
  expect(readingTime(16_000, 16) / readingTime(1000, 256)).toBeLessThan(4);
});
