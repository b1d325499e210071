import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { missingServer } from "./s3-server.ts";

setDefaultTimeout(1_200_000);

let child: Bun.Subprocess<"pipe", "pipe", "inherit"> | undefined;
afterEach(() => child?.kill("SIGKILL"));

test.skipIf(missingServer() !== null)("another program tells the store what to do, and ends it", async () => {
  child = Bun.spawn([process.execPath, join(import.meta.dir, "serve.ts")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const settings = await firstLine(child.stdout);
  const tell = async (method: string, path: string, body?: string) => {
    const answer = await fetch(settings.control + path, { method, ...(body === undefined ? {} : { body }) });
    return { status: answer.status, said: (await answer.json()) as unknown[] };
  };
  const client = new Bun.S3Client({
    endpoint: settings.S3_ENDPOINT_URL ?? "",
    accessKeyId: settings.S3_ACCESS_KEY_ID ?? "",
    secretAccessKey: settings.S3_SECRET_ACCESS_KEY ?? "",
    region: settings.S3_REGION ?? "",
    bucket: "trendvault",
  });
  await client.write("lists/a", "one");
  await tell("POST", "/faults", '{"kind":"status","status":403,"code":"AccessDenied"}');
  await expect(client.file("lists/a").text()).rejects.toThrow();
  await tell("DELETE", "/faults");
  await tell("POST", "/kill");
  await tell("POST", "/start");
  expect(await client.file("lists/a").text()).toBe("one");
  expect((await tell("GET", "/exchanges")).said[0]).toMatchObject({ method: "PUT", key: "lists/a" });
  expect((await tell("GET", "/other")).status).toBe(404);
  child.stdin.end();
  expect(await child.exited).toBe(0);
});

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<Record<string, string>> {
  const { value } = await stream.getReader().read();
  return JSON.parse(new TextDecoder().decode(value));
}
