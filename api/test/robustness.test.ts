import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { DatabaseBuilder, videos } from "@trendvault/kit/database";
import { checkWholeList, exchange, exchangeHalfClosed, startLoad, statusesIn } from "@trendvault/kit/load";
import { until } from "@trendvault/kit/machine";
import { OriginProcess } from "@trendvault/kit/origin-process";
import { drawsOf, Random, testSeed } from "@trendvault/kit/random";

let builder: DatabaseBuilder;
let origin: OriginProcess;
let pids: number[];

beforeAll(async () => {
  builder = new DatabaseBuilder();
  builder.publish([{ region: "GB", videos: videos(60) }]);
  origin = await OriginProcess.start(builder.path);
  pids = origin.workerPids();
});

// Nothing that a client sends ends the process, or is worth a line of the log.
afterEach(async () => {
  expect((await fetch(`${origin.url}api/trending`)).status).toBe(200);
  expect(origin.workerPids()).toEqual(pids);
  expect(origin.lines.map(({ event }) => event)).toEqual(["listening"]);
});

afterAll(async () => {
  await origin.remove();
  builder.remove();
});

const get = "GET /api/trending HTTP/1.1\r\n";
const host = "Host: a\r\n";
const small = "X: y\r\n";
const of = (line: string, fields = host) => `${line} HTTP/1.1\r\n${fields}\r\n`;
const closed = "connection: close";

type Row = [name: string, section: string, bytes: string, expected: number, connection?: typeof closed];

// The sections are those of RFC 9112, and of others where they say so.
const requests: Row[] = [
  ["an ordinary request", "", `${get}${host}\r\n`, 200],
  ["an empty Host", "3.2", `${get}Host:\r\n\r\n`, 200],
  ["no Host", "3.2", `${get}\r\n`, 400, closed],
  ["two Hosts", "3.2", `${get}${host}Host: b\r\n\r\n`, 400, closed],
  ["an invalid Host", "3.2", `${get}Host: a b/?#\r\n\r\n`, 400, closed],
  ["HTTP/1.0", "9.3", "GET /api/trending HTTP/1.0\r\n\r\n", 200, closed],
  [
    "HTTP/1.0 that asks to stay",
    "9.3",
    "GET /api/trending HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    200,
    closed,
  ],
  ["Connection: close", "9.6", `${get}${host}Connection: close\r\n\r\n`, 200, closed],
  ["an empty line before", "2.2", `\r\n${get}${host}\r\n`, 200],
  ["HTTP/9.9", "2.3", `GET / HTTP/9.9\r\n${host}\r\n`, 505, closed],
  ["HTTP/2 without TLS", "RFC 9113, 3.3", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, closed],
  ["an upgrade to HTTP/2", "RFC 9110, 7.8", `${get}${host}Upgrade: h2c\r\nConnection: Upgrade\r\n\r\n`, 200],
  ["TLS", "3", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400, closed],
  ["bare line feeds", "2.2", "GET /api/trending HTTP/1.1\nHost: a\n\n", 400, closed],
  ["a folded field", "5.2", `${get}${host}X: y\r\n z\r\n\r\n`, 400, closed],
  ["a blank before a colon", "5.1", `${get}${host}X : y\r\n\r\n`, 400, closed],
  ["a NUL in a field", "RFC 9110, 5.5", `${get}${host}X: a\0b\r\n\r\n`, 400, closed],
  ["an absolute target, whose authority is ignored", "3.2.2", of("GET http://evil.test/api/trending"), 200],
  ["a target without a slash", "3.2.1", of("GET api/trending"), 400, closed],
  ["a fragment", "3.2", of("GET /api/trending#x"), 400, closed],
  ["raw bytes in the target", "3.2", of("GET /api/\xff\xfe"), 400, closed],
  ["OPTIONS *", "3.2.4", of("OPTIONS *"), 204],
  ["CONNECT", "3.2.3", of("CONNECT a:443"), 405],
  ["an unknown method", "3.1", of("BREW /"), 405],
  ["a lower-case method", "3.1", of("get /api/trending"), 405],
  ["a dotted path", "", of("GET /api/x/../trending"), 404],
  ["an encoded path", "", of("GET /api/%74rending"), 404],
  ["a bare % in a video id", "", of("GET /api/videos/%"), 404],
  ["%00", "", of("GET /api/trending?region=%00"), 400],
  ["%zz", "", of("GET /api/trending?region=%zz"), 400],
  ["overlong UTF-8", "", of("GET /api/trending?region=%c0%af"), 400],
  ["a target of 3 KB", "RFC 9110, 15.5.15", of(`GET /api/trending?x=${"x".repeat(3000)}`), 414],
  ["a target of 100 KB", "3", of(`GET /?x=${"x".repeat(100_000)}`), 414, closed],
  ["15 KB of one field", "", `${get}${host}X: ${"x".repeat(15_000)}\r\n\r\n`, 200],
  ["2,700 fields", "", `${get}${host}${small.repeat(2700)}\r\n`, 200],
  ["2,800 fields", "RFC 6585, 5", `${get}${host}${small.repeat(2800)}\r\n`, 431, closed],
  ["an empty body", "6.2", `${get}${host}Content-Length: 0\r\n\r\n`, 200],
  ["a small body on GET", "9.3", `${get}${host}Content-Length: 3\r\n\r\nabc`, 200, closed],
  [
    "Expect: 100-continue",
    "RFC 9110, 10.1.1",
    of("PUT /", `${host}Content-Length: 3\r\nExpect: 100-continue\r\n`),
    405,
    closed,
  ],
  ["a huge body", "9.3", of("POST /api/trending", `${host}Content-Length: 99999999\r\n`), 405, closed],
  ["chunks", "9.3", `${of("POST /", `${host}Transfer-Encoding: chunked\r\n`)}0\r\n\r\n`, 405, closed],
  [
    "both length and chunks",
    "6.1",
    of("POST /", `${host}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n`),
    400,
    closed,
  ],
  ["a bad Content-Length", "6.3", of("GET /", `${host}Content-Length: -1\r\n`), 400, closed],
];

test.each(requests)("%s (%s) is answered with its status, and closed where it has to be", async (...row) => {
  const [, , bytes, expected, connection] = row;
  const received = await exchange(origin.url, Buffer.from(bytes, "latin1"));
  expect(statusesIn(received)).toEqual([expected]);
  expect(/^connection: .*(?=\r$)/im.exec(received)?.[0]).toBe(connection);
});

test.each(["POST", "PUT", "PATCH", "DELETE", "TRACE", "PURGE", "PROPFIND", "BREW", "get"])(
  "%s is 405 with Allow",
  async (method) => {
    expect(await exchange(origin.url, of(`${method} /api/trending`))).toMatch(
      /^allow: GET, HEAD, OPTIONS\r$/m,
    );
  },
);

test(`nothing of a request but a valid id comes back in a field of its answer (seed ${testSeed})`, async () => {
  const random = new Random();
  const targets = [
    "/",
    "/api/trending",
    "/api/trending?region=",
    "/api/videos/",
    "/?lang=",
    "/api/nothing?",
    "/healthz?",
  ];
  const names = [
    "Host",
    "Accept",
    "Accept-Language",
    "If-None-Match",
    "traceparent",
    "Origin",
    "X-Edge-Signature",
    "Cookie",
  ];
  for (let draw = 0; draw < drawsOf({ usual: 100, long: 5000 }); draw++) {
    const mark = () => random.pick(["marked!", "marked%0d%0aX:y", '"marked"', "marked, */*"]);
    const line = `${random.pick(["GET", "HEAD", "OPTIONS", "POST"])} ${random.pick(targets)}${mark().replaceAll(" ", "")}`;
    const fields = names.filter(() => random.below(2) === 0).map((name) => `${name}: ${mark()}\r\n`);
    const request = of(line, (random.below(2) === 0 ? host : "") + fields.join(""));
    const received = await exchangeHalfClosed(origin.url, request);
    expect(received, request).toStartWith("HTTP/1.1 ");
    expect(received.slice(0, received.indexOf("\r\n\r\n")), request).not.toMatch(/marked/i);
  }
});

test("requests sent in one packet are answered in their order, each with its own answer", async () => {
  const limits = [3, 1, 7, 2];
  const packet = limits
    .map((limit) => `GET /api/trending?limit=${limit} HTTP/1.1\r\nHost: a\r\n\r\n`)
    .join("");
  const countsIn = (received: string) =>
    [...received.matchAll(/"count":([0-9]+)/g)].map(([, count]) => Number(count));
  expect(countsIn(await exchange(origin.url, packet, limits.length))).toEqual(limits);
  expect(countsIn(await exchange(origin.url, packet, limits.length))).toEqual(limits);
});

test("a hundred requests sent in one packet are all answered, though none was asked before", async () => {
  const offsets = Array.from({ length: 100 }, (_, index) => index);
  const targets = offsets.map((index) =>
    index % 4 === 3
      ? `/api/videos/none${index}`
      : `/api/trending?region=${["GB", "DE", "FR"][index % 4]}&limit=${1 + (index % 50)}`,
  );
  const packet = targets.map((target) => `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`).join("");
  const expected = offsets.map((index) => (index % 4 === 3 ? 404 : 200));
  expect(statusesIn(await exchange(origin.url, packet, 100))).toEqual(expected);
});

test("a client that has closed its side has its answer, though it was not asked before", async () => {
  for (let limit = 10; limit < 22; limit++) {
    const request = `GET /api/trending?region=CZ&limit=${limit} HTTP/1.1\r\nHost: a\r\n\r\n`;
    expect(statusesIn(await exchangeHalfClosed(origin.url, request))).toEqual([200]);
  }
});

test("a client that stays slow, silent or half-way does not hold up the others", async () => {
  const stalled = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      Bun.connect({
        hostname: "127.0.0.1",
        port: Number(new URL(origin.url).port),
        socket: { data() {}, open: (socket) => void socket.write(index % 2 === 0 ? "" : "GET /api/tren") },
      }),
    ),
  );
  const load = startLoad(origin.url, { connections: 8, targets: ["/api/trending"], check: checkWholeList });
  await until(() => load.result.answers > 100);
  expect((await load.stop()).failures).toEqual([]);
  for (const socket of stalled) socket.terminate();
});
