import { expect, test } from "bun:test";
import { baseUrl, fakeServer, pageOf, problem } from "../../test-support/fake-server.ts";
import { describeAge, ListReader } from "./list-reader.ts";

const madeAt = Date.parse("2026-11-22T10:00:00Z");
const list = { ...pageOf(), generated_at: new Date(madeAt).toISOString() };
const at = (seconds: number) => new Date(madeAt + seconds * 1000).toUTCString();

test.each([
  [
    "fresh from the origin",
    { date: at(20), "cache-control": "max-age=30" },
    { state: "live", ageSeconds: 20, freshSeconds: 30 },
  ],
  [
    "from a cache",
    {
      date: at(20),
      age: "45",
      "cache-control": "public, max-age=75",
      "cache-status": "trendvault; hit; ttl=75",
    },
    { state: "live", ageSeconds: 45, freshSeconds: 30 },
  ],
  [
    "kept while the origin fails",
    { date: at(800), "cache-status": "trendvault; fwd=stale; detail=stale-if-error" },
    { state: "stale", ageSeconds: 800, freshSeconds: 0 },
  ],
  [
    "from the fallback",
    { date: at(7200), "cache-status": "trendvault; fwd=miss; detail=kv-fallback" },
    { state: "fallback", ageSeconds: 7200, freshSeconds: 0 },
  ],
  [
    "old, with nothing said about it",
    { date: at(1000) },
    { state: "stale", ageSeconds: 1000, freshSeconds: 0 },
  ],
  ...["x", "-5", "1e999", "9".repeat(400), "5, 6"].map((age) => [
    `with the age ${age.slice(0, 9)}`,
    { date: at(20), age },
    { state: "live", ageSeconds: 20, freshSeconds: 0 },
  ]),
  ["of a server whose clock is behind", { date: at(-60) }, { state: "live", ageSeconds: 0, freshSeconds: 0 }],
] as [string, object, object][])("a list %s is described as it is", (_, headers, described) => {
  expect(describeAge(list, new Headers(headers as Record<string, string>))).toEqual(
    described as ReturnType<typeof describeAge>,
  );
});

const titled = "/api/trending?region=DE&titles=fr&limit=2";
const plain = "/api/trending?region=DE&limit=2";

function reading(answer: (path: string) => Response) {
  const { fetch, paths } = fakeServer(answer);
  return { reader: new ListReader({ src: baseUrl, path: titled, verify: false }, { fetch }), paths };
}

test.each([400, 500, 502, 503, 504, "nothing"])(
  "where a server answers %p to titles, lists are as the region has them",
  async (status) => {
    const { reader, paths } = reading((path) => {
      if (!path.includes("titles")) return Response.json(pageOf());
      if (typeof status === "number") return problem(status, "x");
      throw new TypeError("the network failed");
    });
    const { list } = await reader.first({ isAgain: false });
    const { read } = await reader.after({ ...list, next: `${titled}&cursor=1-2` });
    expect([list, read.list]).toEqual([pageOf(), pageOf()]);
    expect(paths()).toEqual([titled, plain, `${titled}&cursor=1-2`, `${plain}&cursor=1-2`]);
  },
);

test.each([404, 410, 429])("an answer %i to titles is one to the whole list", async (status) => {
  const { reader, paths } = reading(() => problem(status, "x"));
  await expect(reader.first({ isAgain: false })).rejects.toMatchObject({ status });
  expect(paths()).toEqual([titled]);
});

test("what was asked for in vain with titles is asked for without them as often as any list", async () => {
  const answers = [problem(502, "x"), problem(503, "x"), Response.json(pageOf())];
  for (const busy of answers.slice(0, 2)) busy.headers.set("retry-after", "0");
  const { reader, paths } = reading(() => answers.shift() ?? problem(404, "x"));
  expect((await reader.first({ isAgain: false })).list).toEqual(pageOf());
  expect(paths()).toEqual([titled, plain, plain]);
});

test("what was ended while titles were read asks for nothing more", async () => {
  const { reader, paths } = reading(() => {
    reader.end();
    throw new TypeError("the network failed");
  });
  await expect(reader.first({ isAgain: false })).rejects.toThrow("abort");
  expect(paths()).toEqual([titled]);
});
