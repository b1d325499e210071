import { afterAll, beforeAll, expect, test } from "bun:test";
import { DatabaseBuilder, videos } from "@trendvault/kit/database";
import { exchange, exchangeHalfClosed, statusesIn } from "@trendvault/kit/load";
import { OriginProcess } from "@trendvault/kit/origin-process";

// What Bun does before a request reaches this code. When one of these fails after an upgrade of Bun, nothing here is
// broken: read the link, decide whether the origin can live with it, and correct this table and api/README.md.

let builder: DatabaseBuilder;
let origin: OriginProcess;

beforeAll(async () => {
  builder = new DatabaseBuilder();
  builder.publish([{ region: "GB", videos: videos(60) }]);
  origin = await OriginProcess.start(builder.path);
});

afterAll(async () => {
  await origin.remove();
  builder.remove();
});

const closed = "closed";
const get = "GET /api/trending HTTP/1.1\r\n";
const host = "Host: a\r\n";
const rfc9112 = "https://www.rfc-editor.org/rfc/rfc9112";
const bun = "https://github.com/oven-sh/bun";
const fields = (count: number) => "X: y\r\n".repeat(count);

type Row = { name: string; bytes: string; expected: number | typeof closed; see: string };

const requests: Row[] = [
  { name: "no Host", bytes: `${get}\r\n`, expected: 400, see: `${rfc9112}#section-3.2` },
  { name: "two Hosts", bytes: `${get}${host}Host: b\r\n\r\n`, expected: 200, see: `${bun}/pull/33717` },
  {
    name: "an absolute target, whose authority is ignored",
    bytes: `GET http://evil.test/api/trending HTTP/1.1\r\n${host}\r\n`,
    expected: 200,
    see: `${bun}/pull/33002`,
  },
  {
    name: "a dotted path, which is resolved",
    bytes: `GET /api/x/../trending HTTP/1.1\r\n${host}\r\n`,
    expected: 200,
    see: "https://url.spec.whatwg.org/#path-state",
  },
  {
    name: "a target without a slash",
    bytes: `GET api/trending HTTP/1.1\r\n${host}\r\n`,
    expected: 400,
    see: `${rfc9112}#section-3.2.1`,
  },
  {
    name: "OPTIONS *",
    bytes: `OPTIONS * HTTP/1.1\r\n${host}\r\n`,
    expected: 400,
    see: `${rfc9112}#section-3.2.4`,
  },
  {
    name: "an unknown version",
    bytes: `GET / HTTP/9.9\r\n${host}\r\n`,
    expected: 505,
    see: `${bun}/issues/19326`,
  },
  {
    name: "a bare line feed",
    bytes: "GET /api/trending HTTP/1.1\nHost: a\n\n",
    expected: 505,
    see: `${bun}/issues/19326`,
  },
  {
    name: "no HTTP at all",
    bytes: "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    expected: 400,
    see: `${bun}/pull/35299`,
  },
  {
    name: "an unknown method",
    bytes: `BREW / HTTP/1.1\r\n${host}\r\n`,
    expected: closed,
    see: `${bun}/issues/6556`,
  },
  {
    name: "a lower-case method",
    bytes: `get /api/trending HTTP/1.1\r\n${host}\r\n`,
    expected: closed,
    see: `${bun}/issues/6556`,
  },
  {
    name: "a URL of 100 KB",
    bytes: `GET /?x=${"x".repeat(100_000)} HTTP/1.1\r\n${host}\r\n`,
    expected: 431,
    see: `${bun}/pull/35299`,
  },
  {
    name: "17 KB of header fields",
    bytes: `${get}${host}X: ${"x".repeat(17_000)}\r\n\r\n`,
    expected: 431,
    see: "https://bun.sh/reference/node/http/maxHeaderSize",
  },
  {
    name: "198 fields",
    bytes: `${get}${host}${fields(197)}\r\n`,
    expected: 200,
    see: `${bun}/pull/33636`,
  },
  {
    name: "199 fields",
    bytes: `${get}${host}${fields(198)}\r\n`,
    expected: 431,
    see: `${bun}/pull/33636`,
  },
  {
    name: "a folded field",
    bytes: `${get}${host}X: y\r\n z\r\n\r\n`,
    expected: 400,
    see: `${rfc9112}#section-5.2`,
  },
  {
    name: "a NUL in a field",
    bytes: `${get}${host}X: a\0b\r\n\r\n`,
    expected: 400,
    see: "https://www.rfc-editor.org/rfc/rfc9110#section-5.5",
  },
  {
    name: "both length and chunked",
    bytes: `POST / HTTP/1.1\r\n${host}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    expected: 400,
    see: `${rfc9112}#section-6.1`,
  },
  {
    name: "a bad Content-Length",
    bytes: `${get}${host}Content-Length: -1\r\n\r\n`,
    expected: 400,
    see: `${rfc9112}#section-6.3`,
  },
  {
    name: "a huge body on POST",
    bytes: `POST /api/trending HTTP/1.1\r\n${host}Content-Length: 99999999\r\n\r\n`,
    expected: 413,
    see: "https://bun.sh/reference/bun/Serve/HostnamePortServeOptions/maxRequestBodySize",
  },
];

test.each(requests)("Bun: $name is $expected, see $see", async ({ bytes, expected }) => {
  const received = await exchange(origin.url, Buffer.from(bytes, "latin1"));
  expect(statusesIn(received)).toEqual(expected === closed ? [] : [expected]);
});

// What api/README.md says of connections whose answer has to wait: a server of one line, for Bun alone.
test("Bun: a request that arrives while the one before waits closes the connection, see pull 38128", async () => {
  const received = await askOneLineServer(({ url }) =>
    exchange(url, "GET /a HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n", 2),
  );
  expect(statusesIn(received)).toEqual([]);
});

test("Bun: a client that closes its side while it waits gets no answer, see pull 35088", async () => {
  const request = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n";
  expect(
    await askOneLineServer(({ url, answer }) => exchangeHalfClosed(url, request, { onClosed: answer })),
  ).toBe("");
});

/** A server that answers when it is told to, and its socket had some turns since. */
async function askOneLineServer(
  ask: (server: { url: string; answer: () => void }) => Promise<string>,
): Promise<string> {
  const told = Promise.withResolvers<void>();
  const fetchLater = async () => {
    await told.promise;
    for (let turn = 0; turn < 10; turn++) await Bun.sleep(2); // each a turn of the event loop, however late it comes
    return new Response("late");
  };
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: fetchLater });
  const received = await ask({ url: server.url.href, answer: told.resolve });
  told.resolve();
  await server.stop(true);
  return received;
}
