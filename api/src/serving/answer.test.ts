import { expect, test } from "bun:test";
import { drawsOf, Random, testSeed } from "@trendvault/kit/random";
import { Answer } from "./answer.ts";

const random = new Random();
const draws = drawsOf({ usual: 2000, long: 100_000 });
const noon = 1_795_780_800; // Fri, 27 Nov 2026 12:00:00 GMT

function drawBody(): Uint8Array<ArrayBuffer> | string | null {
  const length = random.pick([0, 1, 300, 65_535, 65_536, 65_537]);
  return random.pick([null, "Ünïcödé", "", new Uint8Array(length).map((_, index) => index % 253)]);
}

const names = ["etag", "Cache-Control", "vary", "x", "link"];
const values = ["", "a", '"x", W/"y"', "\xe9", "a\tb", "no-store, max-age=0"];

function drawAnswer(): Answer {
  const fields = Array.from({ length: random.below(5) }, () => [random.pick(names), random.pick(values)]);
  return new Answer(random.pick([200, 304, 404, 431, 503]), Object.fromEntries(fields), drawBody());
}

function drawSecond(): number {
  return noon + random.below(3) - 1;
}

function join(parts: readonly Uint8Array[]): Buffer {
  return Buffer.concat(parts.map((part) => part.slice()));
}

/** What a client reads of it. */
function parse(bytes: Buffer) {
  const end = bytes.indexOf("\r\n\r\n");
  const [line = "", ...lines] = bytes.toString("latin1", 0, end).split("\r\n");
  const fields = lines.map((text) => /^([^:]+): (.*)$/s.exec(text)?.slice(1) ?? [text]) as [string, string][];
  return { line, fields: Object.fromEntries(fields), count: fields.length, body: bytes.subarray(end + 4) };
}

test(`an answer is written with its status, its fields, its date and its body (seed ${testSeed})`, () => {
  for (let draw = 0; draw < draws; draw++) {
    const answer = drawAnswer();
    const [second, isLast, hasBody] = [drawSecond(), random.below(2) === 0, random.below(2) === 0];
    const { line, fields, count, body } = parse(join(answer.write({ second, isLast, hasBody })));
    const expected: Record<string, string> = { ...Object.fromEntries(answer.headers) };
    expected.date = new Date(second * 1000).toUTCString();
    if (isLast) expected.connection = "close";
    if (answer.body !== null) expected["content-length"] = String(answer.body.length);
    expect(line).toStartWith(`HTTP/1.1 ${answer.status} `);
    expect(fields).toEqual(expected);
    expect(count).toBe(Object.keys(expected).length);
    expect(body.equals(hasBody ? (answer.body ?? new Uint8Array()) : new Uint8Array())).toBe(true);
  }
});

test(`kept bytes are those that would be written in their second (seed ${testSeed})`, () => {
  for (let draw = 0; draw < draws / 10; draw++) {
    const answer = drawAnswer();
    const body = answer.body?.slice() ?? null;
    const seconds = Array.from({ length: 4 }, drawSecond);
    const kept = answer.bytesAt(drawSecond());
    for (const second of seconds) {
      expect(answer.bytesAt(second)).toBe(kept);
      expect(join(kept).equals(join(answer.write({ second })))).toBe(true);
    }
    expect(answer.body).toEqual(body);
  }
});

test("a short answer is sent in one piece, and a long body is not copied", () => {
  const [short, long] = [65_536, 65_537].map((bytes) => new Answer(200, {}, new Uint8Array(bytes)));
  expect(short?.bytesAt(noon)).toHaveLength(1);
  const body = long?.body;
  expect(long?.bytesAt(noon)[1]).toBe(body as Uint8Array);
});

test("what is made from an answer leaves it as it was", () => {
  const answer = new Answer(200, { etag: '"a"', vary: "x" }, "body");
  const before = join(answer.bytesAt(noon));
  const made = answer.with({ etag: '"b"' }).without(["vary"]);
  expect(join(made.bytesAt(noon)).toString()).toBe(
    before.toString().replace('"a"', '"b"').replace("vary: x\r\n", ""),
  );
  expect(join(answer.bytesAt(noon)).equals(before)).toBe(true);
});

test.each(["a\r\nb: c", "a\nb", "a\rb", "a\0b", "\u010d\u010aset-cookie: x"])(
  "an answer is not made with the value %j, which would end its field",
  (value) => {
    expect(() => new Answer(200, { x: value }, null)).toThrow(TypeError);
    expect(() => new Answer(200, {}, null).with({ x: value })).toThrow(TypeError);
  },
);
