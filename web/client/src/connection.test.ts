import { expect, test } from "bun:test";
import { connect, retryingSend } from "./connection.ts";

const policy: Parameters<typeof retryingSend>[1] = { retries: 2, longestWaitSeconds: 60 };
const busy = (retryAfter?: string) => () =>
  new Response("", { status: 503, headers: retryAfter === undefined ? {} : { "retry-after": retryAfter } });
const fine = () => new Response("fine");
const broken = (): Response => {
  throw new TypeError("the network failed");
};

/** Sends a GET to a server that answers with each of these in turn; `waits` are in seconds. */
async function send(answers: (() => Response)[], request = new Request("https://a.example/")) {
  const waits: number[] = [];
  let sent = 0;
  const retrying = retryingSend(
    async () => (answers[sent++] ?? broken)(),
    policy,
    async (milliseconds) => void waits.push(milliseconds / 1000),
  );
  const outcome = await retrying(request).catch((error: unknown) => error);
  return { outcome, waits, sent };
}

test("a GET is sent again after the network failed, after a longer wait each time", async () => {
  const { outcome, waits } = await send([broken, broken, fine]);
  expect((outcome as Response).status).toBe(200);
  expect(waits[0]).toBeWithin(0.5, 0.751);
  expect(waits[1]).toBeWithin(1, 1.501);
});

test.each([503, 429])(
  "after a %i it waits as long as Retry-After says, and up to half of that longer",
  async (status) => {
    const answer = () => new Response("", { status, headers: { "retry-after": "20" } });
    const { outcome, waits } = await send([answer, fine]);
    expect((outcome as Response).status).toBe(200);
    expect(waits[0]).toBeWithin(20, 30.001);
  },
);

test("Retry-After may be a date", async () => {
  const { waits } = await send([busy(new Date(Date.now() + 40_000).toUTCString()), fine]);
  expect(waits[0]).toBeWithin(20, 60.001); // a machine may stop for seconds
});

test.each(["61", "86400", new Date(Date.now() + 3_600_000).toUTCString()])(
  "a server that asks for more than the longest wait (%s) is not asked again",
  async (retryAfter) => {
    const { outcome, waits, sent } = await send([busy(retryAfter), fine]);
    expect([(outcome as Response).status, waits, sent]).toEqual([503, [], 1]);
  },
);

test("it ends after the last retry, with the answer or the error", async () => {
  expect((await send([busy(), busy(), busy(), fine])).sent).toBe(3);
  const { outcome, sent } = await send([broken, broken, broken, fine]);
  expect(outcome).toBeInstanceOf(TypeError);
  expect(sent).toBe(3);
});

test.each([400, 404, 410, 500, 502])("a %i is not asked for again", async (status) => {
  expect((await send([() => new Response("", { status }), fine])).sent).toBe(1);
});

test("what is no GET is sent once", async () => {
  const request = new Request("https://a.example/", { method: "POST", body: "{}" });
  expect((await send([broken, fine], request)).sent).toBe(1);
});

test("what was aborted is not sent again, and a wait ends with the abort", async () => {
  const controller = new AbortController();
  const request = new Request("https://a.example/", { signal: controller.signal });
  let sent = 0;
  const retrying = retryingSend(async () => {
    sent++;
    setTimeout(() => controller.abort(new Error("left the page")), 1);
    return busy("30")();
  }, policy);
  expect(await retrying(request).catch((error: Error) => error.message)).toBe("left the page");
  expect(await retrying(request).catch((error: Error) => error.message)).toBe("left the page");
  expect(sent).toBe(2);
});

/** A server whose answer has an ETag, and what If-None-Match it was sent. */
function server() {
  const state = { etag: '"1"', body: "one", date: "a" };
  const asked: (string | null)[] = [];
  const send = async (request: Request) => {
    const condition = request.headers.get("if-none-match");
    asked.push(condition);
    const headers = { etag: state.etag, date: state.date };
    return condition === state.etag
      ? new Response(null, { status: 304, headers })
      : new Response(state.body, { headers: { ...headers, signature: "s" } });
  };
  return { state, asked, send };
}

test("an address is asked whether it has changed, and a 304 becomes the answer of before", async () => {
  const { state, asked, send } = server();
  const conditional = connect({ fetch: send, keptAnswers: 10 }).send;
  await conditional(new Request("https://a.example/1"));
  state.date = "b";
  const again = await conditional(new Request("https://a.example/1"));
  expect([again.status, await again.text()]).toEqual([200, "one"]);
  expect([again.headers.get("date"), again.headers.get("signature")]).toEqual(["b", "s"]);
  expect(asked).toEqual([null, '"1"']);
  Object.assign(state, { etag: '"2"', body: "two" });
  expect(await (await conditional(new Request("https://a.example/1"))).text()).toBe("two");
  expect(await (await conditional(new Request("https://a.example/1"))).text()).toBe("two");
  expect(asked).toEqual([null, '"1"', '"1"', '"2"']);
});

test("each address has an answer of its own, and only the last ones are kept", async () => {
  const { asked, send } = server();
  const conditional = connect({ fetch: send, keptAnswers: 2 }).send;
  for (const path of ["1", "2", "3", "1", "3"]) await conditional(new Request(`https://a.example/${path}`));
  expect(asked).toEqual([null, null, null, null, '"1"']);
});

test("what is no success, has no ETag or is no GET is not kept", async () => {
  const answers = [
    () => new Response("", { status: 404, headers: { etag: '"1"' } }),
    () => new Response("without"),
    () => new Response("posted", { headers: { etag: '"1"' } }),
    () => new Response("last"),
  ];
  const conditions: (string | null)[] = [];
  const fetch = async ({ headers }: Request) => {
    conditions.push(headers.get("if-none-match"));
    return (answers.shift() as () => Response)();
  };
  const conditional = connect({ fetch, keptAnswers: 10 }).send;
  for (const method of ["GET", "GET", "POST", "GET"])
    await conditional(new Request("https://a.example/", { method }));
  expect(conditions).toEqual([null, null, null, null]);
});
