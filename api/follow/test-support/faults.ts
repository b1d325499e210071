import { Database } from "bun:sqlite";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Pointer } from "@trendvault/contract/pointer";
import { TestPublisher } from "./test-publisher.ts";
import { refusal, type TestStore } from "./test-store.ts";

/** What may be wrong with the next generation itself, though its writer has signed it. */
const signedFileFaults: StoreFault[] = [
  {
    name: "the object is a gzip bomb",
    reason: "unreadable_file",
    isInObject: true,
    happen: ({ publisher }) => publishAgain(publisher, () => bomb),
  },
  {
    name: "the object is no gzip",
    reason: "unreadable_file",
    isInObject: true,
    happen: ({ publisher }) => publishAgain(publisher, () => Buffer.from("no gzip, but signed")),
  },
  {
    name: "the gzip file is cut off, and signed",
    reason: "unreadable_file",
    isInObject: true,
    happen: ({ publisher }) => publishAgain(publisher, (file) => file.subarray(0, file.length >> 1)),
  },
  {
    name: "the object is no SQLite file",
    reason: "unreadable_file",
    isInObject: true,
    happen: ({ publisher }) => publishAgain(publisher, () => Bun.gzipSync("no SQLite file, but signed")),
  },
  {
    name: "the SQLite file is damaged",
    reason: "unreadable_file",
    isInObject: true,
    happen: ({ publisher }) =>
      publishAgain(publisher, (file) => {
        const bytes = Bun.gunzipSync(new Uint8Array(file));
        bytes.fill(0x5a, 4096 * 3, 4096 * 20);
        return Bun.gzipSync(bytes);
      }),
  },
  {
    name: "the SQLite file is cut off",
    reason: "unreadable_file",
    isInObject: true,
    happen: ({ publisher }) =>
      publishAgain(publisher, (file) =>
        Bun.gzipSync(Bun.gunzipSync(new Uint8Array(file)).slice(0, 4096 * 30)),
      ),
  },
  {
    name: "the SQLite file needs a WAL",
    reason: "unreadable_file",
    isInObject: true,
    happen: ({ publisher }) =>
      publishAgain(publisher, (file) =>
        changeFile(file, (database) => database.run("PRAGMA journal_mode = WAL")),
      ),
  },
  {
    name: "the file has another generation",
    reason: "unreadable_file",
    isInObject: true,
    happen: ({ publisher }) =>
      publishAgain(publisher, (file) =>
        changeFile(file, (database) => database.run("UPDATE generations SET id = 5")),
      ),
  },
  {
    name: "the file has another schema",
    reason: "other_schema",
    isInObject: true,
    happen: ({ publisher }) =>
      publishAgain(publisher, (file) =>
        changeFile(file, (database) =>
          database.run("INSERT INTO schema_migrations VALUES (99, 'x', 'x', 0)"),
        ),
      ),
  },
];

// 200 MB of zeros are 200 kB.
const bomb = Bun.gzipSync(new Uint8Array(200 * 1024 * 1024), { level: 9 });

function changeFile(packed: Buffer, change: (database: Database) => void): Uint8Array {
  const path = join(tmpdir(), `trendvault-changed-${crypto.randomUUID()}.db`);
  writeFileSync(path, Bun.gunzipSync(new Uint8Array(packed)));
  const database = new Database(path, { readwrite: true });
  try {
    change(database);
  } finally {
    database.close();
  }
  const changed = Bun.gzipSync(readFileSync(path));
  rmSync(path);
  return changed;
}

async function publishAgain(publisher: TestPublisher, change: (file: Buffer) => Uint8Array): Promise<void> {
  await publisher.publish({ change });
}

/** Something that goes wrong after a generation was adopted, before the next one is. */
export type StoreFault = {
  name: string;
  /** What the follower says. */
  reason: string;
  /** What happens to the store after the next generation was put into it; or how that one is published. */
  happen: (context: { store: TestStore; publisher: TestPublisher; before: Pointer }) => Promise<void> | void;
  /** Whether the next generation itself is bad: then only the one after it can be adopted. */
  isInObject?: true;
};

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
