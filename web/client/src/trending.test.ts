import { expect, test } from "bun:test";
import { listRegions } from "../generated/sdk.gen.ts";
import { baseUrl, fakeServer, pageOf, problem } from "../test-support/fake-server.ts";
import { connect } from "./connect.ts";
import { answerOf, isProblem, ProblemError } from "./problem-error.ts";
import { trending } from "./trending.ts";

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

test.each([
  ["a network failure", () => Promise.reject(new TypeError("no route")), TypeError],
  [
    "an answer that is cut off",
    () => new Response('{"items": [', { headers: { "content-type": "application/json" } }),
    SyntaxError,
  ],
])("%s is thrown as it is", async (_, answer, type) => {
  const { fetch } = fakeServer(answer);
  await expect(trending({ client: connect({ ...settings, fetch }) })).rejects.toBeInstanceOf(type);
});

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
