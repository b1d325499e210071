import { signedFileFaults } from "./signed-file-faults.ts";
import type { StoreFault } from "./store-fault.ts";
import { TestPublisher } from "./test-publisher.ts";
import { refusal, type TestStore } from "./test-store.ts";

const data = /^generations\//;

function answer(store: TestStore, names: RegExp, make: (body: Buffer) => Response | Promise<Response>): void {
  store.fault = ({ name, body }) => (names.test(name) ? make(body) : null);
}

/** A response that announces all bytes and ends after some. */
function cut(body: Buffer): Response {
  const half = new ReadableStream({
    start(controller) {
      controller.enqueue(body.subarray(0, body.length / 2));
      controller.close();
    },
  });
  return new Response(half);
}

/** What a store answers wrongly, and what may be wrong with a file that its writer has signed. */
export const storeFaults: StoreFault[] = [
  { name: "the store is down", reason: "unreachable", happen: ({ store }) => store.stop() },
  {
    name: "the store does not answer",
    reason: "timeout",
    happen: ({ store }) => answer(store, /./, () => new Promise(() => {})),
  },
  {
    name: "the object comes too slowly",
    reason: "timeout",
    happen: ({ store }) =>
      answer(
        store,
        data,
        () =>
          new Response(new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(9)) })),
      ),
  },
  ...[500, 503, 429, 301].map((status) => ({
    name: `the store answers ${status}`,
    reason: "status",
    happen: ({ store }: { store: TestStore }) => answer(store, /./, () => refusal(status, "Error")),
  })),
  {
    name: "the store answers 403",
    reason: "denied",
    happen: ({ store }) => answer(store, /./, () => refusal(403, "AccessDenied")),
  },
  {
    name: "the bucket is gone",
    reason: "status",
    happen: ({ store }) => answer(store, /./, () => refusal(404, "NoSuchBucket")),
  },
  { name: "the pointer is gone", reason: "missing", happen: ({ store }) => store.delete("current.json") },
  {
    name: "the pointer is garbage",
    reason: "malformed",
    happen: ({ store }) => answer(store, /^current/, () => new Response("<html>It works!</html>")),
  },
  {
    name: "the pointer has no end",
    reason: "malformed",
    happen: ({ store }) => answer(store, /^current/, () => new Response("x".repeat(100_000))),
  },
  {
    name: "the pointer is cut off",
    reason: "malformed",
    happen: ({ store }) => answer(store, /^current/, (body) => new Response(body.subarray(0, 200))),
  },
  {
    name: "the pointer was changed",
    reason: "tampered",
    happen: ({ store }) =>
      answer(store, /^current/, (body) => new Response(body.toString().replace(/"bytes":\d/, "$&9"))),
  },
  {
    name: "an older pointer is put back",
    reason: "older",
    happen: ({ store, before }) => {
      store.write("current.json", store.read(`pointers/${before.generation - 1}.json`));
    },
  },
  {
    name: "another key has signed the pointer",
    reason: "unknown_key",
    happen: async ({ store, publisher }) => {
      const other = await TestPublisher.create(store, { generation: publisher.generation });
      await other.publish();
    },
  },
  {
    name: "the pointer is of another store of the same key",
    reason: "other_store",
    happen: async ({ store, publisher }) => {
      const { generation, signer } = publisher;
      const other = await TestPublisher.create(store, { generation, signer, name: "trendvault/staging" });
      await other.publish();
    },
  },
  {
    name: "the object is gone",
    reason: "missing",
    happen: ({ store }) => answer(store, data, () => refusal(404, "NoSuchKey")),
  },
  {
    name: "the object is cut off",
    reason: "wrong_object",
    happen: ({ store }) => answer(store, data, cut),
  },
  {
    name: "the object is another one",
    reason: "wrong_object",
    happen: ({ store, before }) =>
      answer(
        store,
        data,
        () => new Response(store.read(`generations/${before.generation}-${before.file.sha256}.db.gz`)),
      ),
  },
  {
    name: "the object has one other bit",
    reason: "wrong_object",
    happen: ({ store }) =>
      answer(store, data, (body) => {
        const changed = Buffer.from(body);
        changed[changed.length >> 1] = (changed[changed.length >> 1] ?? 0) ^ 1;
        return new Response(changed);
      }),
  },
  {
    name: "the object has no end",
    reason: "wrong_object",
    happen: ({ store }) =>
      answer(store, data, () => {
        const endless = new ReadableStream({
          pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
        });
        return new Response(endless);
      }),
  },
  ...signedFileFaults,
];
