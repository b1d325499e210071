import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { newFolder } from "@trendvault/kit/machine";
import { nameStore, openStore, readWhole } from "./stores.ts";

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
  const options = {
    endpoint: `http://127.0.0.1:${server.port}`,
    region: "auto",
    accessKeyId: "reader",
    secretAccessKey: "secret",
  };
  const store = openStore(nameStore("s3://lists"), options);
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
