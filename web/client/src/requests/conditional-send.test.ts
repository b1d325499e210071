import { expect, test } from "bun:test";
import { conditionalSend } from "./conditional-send.ts";

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
  const conditional = conditionalSend(send, 10);
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
  const conditional = conditionalSend(send, 2);
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
  const conditional = conditionalSend(async ({ headers }) => {
    conditions.push(headers.get("if-none-match"));
    return (answers.shift() as () => Response)();
  }, 10);
  for (const method of ["GET", "GET", "POST", "GET"])
    await conditional(new Request("https://a.example/", { method }));
  expect(conditions).toEqual([null, null, null, null]);
});
