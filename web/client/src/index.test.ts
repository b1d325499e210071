import { expect, test } from "bun:test";
import { Random } from "@trendvault/kit/random";
import { baseUrl, fakeServer, pageOf, problem } from "../test-support/fake-server.ts";
import { connect } from "./connection.ts";
import { allItems, allPages, answerOf, listRegions, trending } from "./index.ts";
import { isProblem, ProblemError } from "./problem-error.ts";

const settings = { baseUrl: `${baseUrl}/`, retries: 0 };

test("it asks for what the options say, and gives the page", async () => {
  const { fetch, paths } = fakeServer(() => Response.json(pageOf()));
  const client = connect({ ...settings, fetch });
  const page = await trending({ client, region: "DE", window: "now", category: "News & Politics", limit: 2 });
  expect(page.items.map(({ id }) => id)).toEqual(["video-1", "video-2"]);
  await trending({ client });
  const query = "region=DE&window=now&category=News%20%26%20Politics&limit=2";
  expect(paths()).toEqual([`/api/trending?${query}`, "/api/trending"]);
});

test("a problem is thrown with its type, its sentence and Retry-After", async () => {
  const { fetch } = fakeServer(() => {
    const refused = problem(400, "invalid-parameter", { invalid: [{ name: "limit", detail: "1 to 50" }] });
    refused.headers.set("retry-after", "7");
    return refused;
  });
  const error = await trending({ client: connect({ ...settings, fetch }) }).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ProblemError);
  expect((error as ProblemError).retryAfterSeconds).toBe(7);
  expect(isProblem(error, "/problems/not-found")).toBe(false);
  if (!isProblem(error, "/problems/invalid-parameter")) throw error;
  expect(error.problem.invalid?.[0]?.name).toBe("limit");
  expect(error.status).toBe(400);
});

test("an error of another server, like a proxy's page, is a problem without a type", async () => {
  const { fetch } = fakeServer(
    () => new Response("<h1>Bad gateway</h1>", { status: 502, statusText: "Bad Gateway" }),
  );
  const error = await trending({ client: connect({ ...settings, fetch }) }).catch(
    (thrown: unknown) => thrown,
  );
  expect((error as ProblemError).problem).toMatchObject({ type: "about:blank", status: 502 });
  expect((error as ProblemError).message).toBe("Bad Gateway");
});

const html = { headers: { "content-type": "text/html" } };
const list = pageOf();
const wrong: [string, () => Response | Promise<Response>][] = [
  ["a network failure", () => Promise.reject(new TypeError("no route"))],
  ["an answer that is cut off", () => new Response('{"items": [')],
  ["an answer that breaks off", () => new Response(broken())],
  ["an answer with an ETag that breaks off", () => new Response(broken(), { headers: { etag: '"1"' } })],
  ["a page of HTML", () => new Response("<!doctype html><title>Log in</title>", html)],
  ["an empty body", () => new Response("", html)],
  ["an empty success", () => new Response(null, { status: 204 })],
  ...[null, [], 1, "items", {}, { ...list, items: {} }, { ...list, items: [null] }].map(json),
  ...[{ next: 1 }, { generated_at: "soon" }, { items: [{ ...list.items[0], id: 7 }] }].map((part) =>
    json({ ...list, ...part }),
  ),
];

function broken(): ReadableStream {
  return new ReadableStream({ pull: (body) => body.error(new TypeError("terminated")) });
}

function json(body: unknown): [string, () => Response] {
  return [`the JSON ${JSON.stringify(body).slice(0, 40)}`, () => Response.json(body)];
}

test.each(wrong)("%s is no list, and the error names the address", async (_, answer) => {
  const { fetch } = fakeServer(answer);
  const error = await trending({ client: connect({ ...settings, fetch }), region: "DE" }).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(TypeError);
  expect((error as TypeError).message).toContain(`${baseUrl}/api/trending?region=DE`);
});

test.each(["trending.example.com", "//trending.example.com", "/lists", "ftp://a.example", "https://"])(
  "an address without a scheme is refused: %s",
  (address) => expect(() => connect({ baseUrl: address })).toThrow(address),
);

test.each([
  ["never begins", () => new Promise<Response>(() => {})],
  ["never ends", () => new Response(new ReadableStream({ pull: (body) => unfinished(body) }))],
])("an answer that %s is given up after the time limit, and not asked for again", async (_, answer) => {
  let requests = 0;
  const count = () => {
    requests++;
    return answer();
  };
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: count });
  try {
    const client = connect({ baseUrl: server.url.origin, timeoutSeconds: 0.2 });
    const error = await trending({ client }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "TimeoutError" });
    expect((error as Error).message).toContain(`${server.url.origin}/api/trending`);
    expect(requests).toBeLessThanOrEqual(1);
  } finally {
    await server.stop(true);
  }
});

function unfinished(body: ReadableStreamDefaultController): Promise<void> {
  body.enqueue(new TextEncoder().encode("{"));
  return new Promise(() => {});
}

test("an abort ends it with the reason", async () => {
  const { fetch } = fakeServer(() => Response.json(pageOf()));
  const signal = AbortSignal.abort(new Error("enough"));
  await expect(trending({ client: connect({ ...settings, retries: 2, fetch }), signal })).rejects.toThrow(
    "enough",
  );
});

test("the functions of the API's description use the same connection", async () => {
  let refusals = 1;
  const { fetch, requests } = fakeServer(() =>
    refusals-- > 0 ? problem(503, "busy") : Response.json({ regions: [] }, { headers: { etag: '"1"' } }),
  );
  const client = connect({ baseUrl, fetch });
  expect(await answerOf(listRegions({ client }))).toMatchObject({ regions: [] });
  await listRegions({ client });
  expect(requests.map(({ headers }) => headers.get("if-none-match"))).toEqual([null, null, '"1"']);
});

type Answer = (path: string) => Response;

function clientOf(answer: Answer) {
  const { fetch, paths } = fakeServer(answer);
  return { client: connect({ baseUrl, fetch, retries: 0 }), paths };
}

const cursorOf = (path: string) => /cursor=(\d+)-(\d+)/.exec(path)?.slice(1).map(Number) ?? null;
const restart = "/api/trending?region=DE&limit=2";
const gone = () => problem(410, "generation-gone", { restart });

test("all pages are given in order, each asked for by the `next` of the one before", async () => {
  const { client, paths } = clientOf((path) => Response.json(pageOf({ offset: cursorOf(path)?.[1] ?? 0 })));
  const pages = await Array.fromAsync(allPages({ client, region: "DE", limit: 2 }));
  expect(pages.flatMap(({ items }) => items.map(({ rank }) => rank))).toEqual([1, 2, 3, 4, 5, 6]);
  expect(paths()).toEqual([restart, `${restart}&cursor=1-2`, `${restart}&cursor=1-4`]);
});

test("where the generation was deleted meanwhile, the newest one follows from its start", async () => {
  let generation = 1;
  const { client } = clientOf((path) => {
    const [of, offset] = cursorOf(path) ?? [generation, 0];
    if (of === 1 && offset === 4) generation = 2;
    return of === generation ? Response.json(pageOf({ generation, offset: offset ?? 0 })) : gone();
  });
  const pages = await Array.fromAsync(allPages({ client, region: "DE", limit: 2 }));
  expect(pages.map((page) => [page.generation, page.items[0]?.rank])).toEqual([
    [1, 1],
    [1, 3],
    [2, 1],
    [2, 3],
    [2, 5],
  ]);
  generation = 1;
  const items = await Array.fromAsync(allItems({ client, region: "DE", limit: 2 }));
  expect(items.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6].map((rank) => `video-${rank}`));
});

test("a list whose generations are always gone ends with the problem after some restarts", async () => {
  const { client, paths } = clientOf((path) => (cursorOf(path) === null ? Response.json(pageOf()) : gone()));
  const error = await Array.fromAsync(allPages({ client, restarts: 4 })).catch((thrown: unknown) => thrown);
  expect(isProblem(error, "/problems/generation-gone")).toBe(true);
  expect(paths().filter((path) => cursorOf(path) === null)).toHaveLength(5);
});

test("a 410 that does not say where to start again is thrown", async () => {
  const { client } = clientOf((path) =>
    cursorOf(path) === null ? Response.json(pageOf()) : problem(410, "generation-gone"),
  );
  await expect(Array.fromAsync(allItems({ client }))).rejects.toThrow();
});

test("a 410 that names another list restarts the one that was asked for", async () => {
  let isGone = true;
  const { client, paths } = clientOf((path) => {
    if (cursorOf(path) === null || !isGone)
      return Response.json(pageOf({ offset: cursorOf(path)?.[1] ?? 0 }));
    isGone = false;
    return problem(410, "generation-gone", { restart: "/api/trending?region=PL" });
  });
  await Array.fromAsync(allPages({ client, region: "DE", window: "now", limit: 2 }));
  expect(
    paths().filter((path) => !path.includes("region=DE&window=now&limit=2") && cursorOf(path) === null),
  ).toEqual([]);
});

const elsewhere = [
  "@other.example/x",
  ".other.example/x",
  "//other.example/x",
  "/\\other.example",
  "/\t/other.example",
  "https://other.example/x",
  "",
  ":1/x",
];

test.each(elsewhere)("a `next` that would lead to another server is not followed: %j", async (next) => {
  const { fetch, requests } = fakeServer(() => Response.json({ ...pageOf(), next }));
  const client = connect({ baseUrl, fetch, retries: 0 });
  const error = await Array.fromAsync(allPages({ client })).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(TypeError);
  expect(requests).toHaveLength(1);
});

test("a `next` that leads in a circle ends with an error", async () => {
  const { client } = clientOf((path) => Response.json(pageOf({ offset: cursorOf(path)?.[1] === 2 ? 0 : 2 })));
  await expect(Array.fromAsync(allPages({ client }))).rejects.toThrow("Cannot follow `next`");
});

const random = new Random();

test(`whenever generations are replaced, every restart begins at rank 1 and it ends (seed ${random.seed})`, async () => {
  for (let round = 0; round < 100; round++) {
    let generation = 1;
    const { client, paths } = clientOf((path) => {
      if (random.below(3) === 0) generation++;
      const [of, offset] = cursorOf(path) ?? [generation, 0];
      return of === generation ? Response.json(pageOf({ generation, offset: offset ?? 0 })) : gone();
    });
    const ranks: number[] = [];
    let last = { generation: 0, rank: 0 };
    const read = async () => {
      for await (const page of allPages({ client })) {
        for (const { rank } of page.items) {
          expect(rank).toBe(page.generation === last.generation ? last.rank + 1 : 1);
          last = { generation: page.generation, rank };
          ranks.push(rank);
        }
      }
    };
    await read().catch((error: unknown) => expect(isProblem(error, "/problems/generation-gone")).toBe(true));
    expect(paths().length).toBeLessThanOrEqual(4 * 4);
  }
});
