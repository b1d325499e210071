import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { everyFault, type FaultRule, missingServer, TestStore } from "@trendvault/kit/object-store";
import { Random } from "@trendvault/kit/random";

setDefaultTimeout(1_200_000);

const random = new Random();
const missing = missingServer();

describe.skipIf(missing !== null)(`a store${missing === null ? "" : ` (${missing})`}`, () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await TestStore.start();
  });
  afterEach(() => store.proxy.rules.clear());
  afterAll(() => store.remove());

  test("stores an object that is not there yet, and refuses to replace it unless asked for the one it holds", async () => {
    const first = await put("conditional", "one", { "if-none-match": "*" });
    expect(first.status).toBe(200);
    expect((await put("conditional", "two", { "if-none-match": "*" })).status).toBe(412);
    const etag = first.headers.get("etag") ?? "";
    expect((await put("conditional", "two", { "if-match": `"${"0".repeat(32)}"` })).status).toBe(412);
    expect((await put("conditional", "two", { "if-match": etag })).status).toBe(200);
    expect(await (await get("conditional")).text()).toBe("two");
  });

  test("keeps what it acknowledged when it is killed", async () => {
    await put("kept", "one");
    await store.server.kill();
    await expect(get("kept")).rejects.toThrow();
    await store.server.start();
    expect(await (await get("kept")).text()).toBe("one");
  });

  test("shows an object to who does not sign, through the proxy only", async () => {
    await put("shown", "one");
    expect(await (await fetch(`${store.readUrl}/${store.prefix}shown`)).text()).toBe("one");
    const direct = store.readUrl.replace(store.proxy.url, store.server.url);
    expect((await fetch(`${direct}/${store.prefix}shown`)).status).toBe(403);
  });

  test(`is as it was after any fault (seed ${random.seed})`, async () => {
    await put("folder/a", "the older one");
    await put("folder/a", "the newer one");
    await put("folder/b", "another one");
    for (let draw = 0; draw < 40; draw++) {
      misbehave({ ...random.pick(everyFault), times: 1 });
      await get("folder/a", {}, 100)
        .then((answer) => answer.text())
        .catch(String);
      store.proxy.rules.clear();
      expect(await (await get("folder/a")).text()).toBe("the newer one");
    }
  });

  const answers: [FaultRule, string | null][] = [
    [{ kind: "status", status: 503, code: "SlowDown" }, null],
    [{ kind: "short" }, "the ne"],
    [{ kind: "older" }, "the older one"],
    [{ kind: "swapped" }, "another one"],
    [{ kind: "slow", milliseconds: 10 }, "the newer one"],
    [{ kind: "lying-etag" }, "the newer one"],
  ];
  test.each(answers)("with the fault %p answers %p", async (fault, expected) => {
    misbehave(fault);
    const answer = await get("folder/a");
    expect(answer.ok ? await answer.text() : null).toBe(expected);
  });

  test.each(["truncated", "unanswered"] as const)("with the fault %s gives no whole answer", async (kind) => {
    misbehave({ kind });
    await expect(get("folder/a").then((answer) => answer.text())).rejects.toThrow();
  });

  test("that has lost an object says that it stored it", async () => {
    misbehave({ kind: "lost", keys: "lost$" });
    expect((await put("lost", "one")).status).toBe(200);
    expect((await get("lost")).status).toBe(404);
    expect(store.proxy.exchanges.at(-2)).toMatchObject({ method: "PUT", status: 200, fault: "lost" });
  });

  test("uses a rule for the requests that it names, as often as it says", async () => {
    misbehave({ kind: "full", methods: ["PUT"], keys: "/only$", times: 2 });
    expect((await put("other", "one")).status).toBe(200);
    const statuses = [];
    for (let turn = 0; turn < 3; turn++) statuses.push((await put("only", "one")).status);
    expect(statuses).toEqual([507, 507, 200]);
  });

  function misbehave(rule: FaultRule): void {
    store.proxy.rules.add(rule);
  }

  function put(name: string, body: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(address(name, "PUT"), { method: "PUT", body, headers });
  }

  function get(name: string, headers: Record<string, string> = {}, timeoutMs = 120_000): Promise<Response> {
    return fetch(address(name, "GET"), { headers, signal: AbortSignal.timeout(timeoutMs), keepalive: false });
  }

  function address(name: string, method: "GET" | "PUT"): string {
    const client = new Bun.S3Client({ ...store.direct, endpoint: store.proxy.url });
    return client.presign(store.prefix + name, { method });
  }
});
