import { expect, test } from "bun:test";
import { Random } from "@trendvault/contract/test-support/random";
import { baseUrl, fakeServer, pageOf, problem } from "../test-support/fake-server.ts";
import { allItems, allPages } from "./all-pages.ts";
import { connect } from "./connect.ts";
import { isProblem } from "./problem-error.ts";

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
