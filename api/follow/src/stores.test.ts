import { afterEach, expect, mock, spyOn, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { newFolder } from "@trendvault/kit/machine";
import { nameStore, openStore, readWhole } from "./stores.ts";

afterEach(() => mock.restore());

test.each([
  [403, "denied"],
  [500, "status"],
])("of a refusal with status %d that does not end, the beginning is enough", async (status, reason) => {
  const endless = () =>
    new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536).fill(120)) });
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response(endless(), { status }),
  });
  const store = openBucket(server);
  try {
    const opened = store.open("current.json", { signal: AbortSignal.timeout(300_000) });
    await expect(opened).rejects.toMatchObject({ reason });
  } finally {
    await server.stop(true);
  }
});

test.each([
  ["a pipe", (path: string) => execFileSync("mkfifo", [path])],
  ["a folder", (path: string) => mkdirSync(path)],
])("%s in the place of a folder's object is not waited for", async (_, make) => {
  const folder = newFolder("follow");
  const name = "current.json";
  make(join(folder, name));
  const store = openStore(nameStore(folder, "lists"), null);
  const opened = await store.open(name, { signal: AbortSignal.timeout(300_000) });
  if (opened === null || opened === "unchanged") throw new Error("it is there");
  await expect(readWhole(opened, { largest: 1000, name })).rejects.toMatchObject({ reason: "unreachable" });
});

test.each(["stat", "read"] as const)("a %s of a folder's object that hangs is given up", async (call) => {
  const end = new AbortController();
  spyOn(await openFiles(), call).mockImplementation(() => {
    queueMicrotask(() => end.abort(new DOMException("", "TimeoutError")));
    return new Promise<never>(() => {});
  });
  await expect(readObject(end.signal)).rejects.toMatchObject({ reason: "timeout" });
});

test("a list of names that does not end is given up", async () => {
  const end = new AbortController();
  let pages = 0;
  const page =
    "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>more</NextContinuationToken></ListBucketResult>";
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => {
      if (++pages === 3) end.abort(new DOMException("", "TimeoutError"));
      return new Response(page);
    },
  });
  const listing = openBucket(server).list("", end.signal);
  await expect(listing.finally(() => server.stop(true))).rejects.toMatchObject({ reason: "timeout" });
});

test("a folder whose names take too long to read is given up", async () => {
  const end = new AbortController();
  const listing = openStore(nameStore(newFolder("follow"), "lists"), null).list("", end.signal);
  end.abort(new DOMException("", "TimeoutError"));
  await expect(listing).rejects.toMatchObject({ reason: "timeout" });
});

// Bun ends a program that leaves one to its garbage collector.
test("a folder's object that is open too late is closed", async () => {
  const files = await openFiles();
  const { close } = files;
  const closed = Promise.withResolvers<void>();
  spyOn(files, "close").mockImplementation(function (this: FileHandle) {
    closed.resolve();
    return close.call(this);
  });
  const end = new AbortController();
  const reading = readObject(end.signal, () => end.abort(new DOMException("", "TimeoutError")));
  await expect(reading).rejects.toMatchObject({ reason: "timeout" });
  await closed.promise;
});

function openBucket({ url }: { url: URL }) {
  const key = { accessKeyId: "reader", secretAccessKey: "secret" };
  return openStore(nameStore("s3://lists"), { endpoint: url.origin, region: "auto", ...key });
}

/** The prototype of all. */
async function openFiles(): Promise<FileHandle> {
  const file = await open(".");
  await file.close();
  return Object.getPrototypeOf(file);
}

async function readObject(signal: AbortSignal, whileOpening = () => {}): Promise<unknown> {
  const folder = newFolder("follow");
  const name = "current.json";
  writeFileSync(join(folder, name), "{}");
  const opened = await openStore(nameStore(folder, "lists"), null).open(name, { signal });
  if (opened === null || opened === "unchanged") throw new Error("it is there");
  const reading = readWhole(opened, { largest: 1000, name });
  whileOpening();
  return reading;
}
