import { expect, test } from "bun:test";
import { type RetryPolicy, retryingSend } from "./retrying-send.ts";

const policy: RetryPolicy = { retries: 2, longestWaitSeconds: 60 };
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
