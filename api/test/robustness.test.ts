import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { DatabaseBuilder, videos } from "@trendvault/kit/database";
import { checkWholeList, exchange, exchangeHalfClosed, startLoad, statusesIn } from "@trendvault/kit/load";
import { until } from "@trendvault/kit/machine";
import { OriginProcess } from "@trendvault/kit/origin-process";

let builder: DatabaseBuilder;
let origin: OriginProcess;
let pids: number[];

beforeAll(async () => {
  builder = new DatabaseBuilder();
  builder.publish([{ region: "GB", videos: videos(60) }]);
  origin = await OriginProcess.start(builder.path);
  pids = origin.workerPids();
  await until(canAnswerOnePacket);
});

// Some milliseconds after a start. Only answers of which none was built are lost.
let asked = 0;
async function canAnswerOnePacket(): Promise<boolean> {
  const request = () => `GET /api/trending?region=PL&limit=${1 + (asked++ % 50)} HTTP/1.1\r\nHost: a\r\n\r\n`;
  return statusesIn(await exchange(origin.url, request() + request(), 2)).length === 2;
}

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

// What this code answers; what Bun answers or changes before is in bun.test.ts.
const requests: [name: string, bytes: string, expected: number][] = [
  ["an ordinary request", `${get}Host: a\r\n\r\n`, 200],
  ["an empty Host", `${get}Host:\r\n\r\n`, 200],
  ["an invalid Host", `${get}Host: a b/?#\r\n\r\n`, 200],
  ["HTTP/1.0", "GET /api/trending HTTP/1.0\r\n\r\n", 200],
  ["a fragment", "GET /api/trending#x HTTP/1.1\r\nHost: a\r\n\r\n", 404],
  ["an encoded path", "GET /api/%74rending HTTP/1.1\r\nHost: a\r\n\r\n", 404],
  ["%00", "GET /api/trending?region=%00 HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["%zz", "GET /api/trending?region=%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["overlong UTF-8", "GET /api/trending?region=%c0%af HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["raw bytes in the path", "GET /api/\xff\xfe HTTP/1.1\r\nHost: a\r\n\r\n", 404],
  ["a bare % in a video id", "GET /api/videos/% HTTP/1.1\r\nHost: a\r\n\r\n", 404],
  ["a URL of 3 KB", `GET /api/trending?x=${"x".repeat(3000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 414],
  ["15 KB of header fields", `${get}Host: a\r\nX: ${"x".repeat(15_000)}\r\n\r\n`, 200],
  ["a small body on GET", `${get}Host: a\r\nContent-Length: 3\r\n\r\nabc`, 200],
  ["CONNECT", "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n", 405],
];

test.each(requests)("%s is answered with its status", async (_name, bytes, expected) => {
  expect(statusesIn(await exchange(origin.url, Buffer.from(bytes, "latin1")))).toEqual([expected]);
});

test.each(["POST", "PUT", "PATCH", "DELETE", "TRACE", "PURGE", "PROPFIND", "MKCOL", "LOCK", "SEARCH"])(
  "%s is 405 with Allow",
  async (method) => {
    const received = await exchange(origin.url, `${method} /api/trending HTTP/1.1\r\nHost: a\r\n\r\n`);
    expect(statusesIn(received)).toEqual([405]);
    expect(received).toMatch(/^allow: GET, HEAD, OPTIONS\r$/im);
  },
);

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
  // With those of the tests before, fewer than may be built at once: what has to wait is Bun's to lose.
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
