import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import type { PublicKeySet } from "@trendvault/contract/keys";
import { verifyToken } from "@trendvault/contract/token";
import { freePort } from "../../edge-worker/test/free-port.ts";
import { newDatabasePath, newEnvFile, sourceFile, start, stopAll } from "./test-support/running-stack.ts";

const root = resolve(import.meta.dir, "../..");
setDefaultTimeout(1_200_000); // real processes on a busy machine
afterEach(stopAll);

type Page = {
  generation: number;
  total: number;
  next: string | null;
  token: string;
  items: { id: string; rank: number }[];
};

test("following next finds every video once, while the writer publishes between its pages", async () => {
  const port = await freePort();
  const db = newDatabasePath();
  await start(["--source", sourceFile(videos(120, 0)), "--db", db, "--port", String(port)]).waitForOutput(
    "TrendVault is up.",
  );

  const pages: Page[] = [];
  for (
    let path: string | null = "/api/trending?region=GB&limit=50";
    path !== null;
    path = pages.at(-1)?.next ?? null
  ) {
    pages.push(await getPage(port, path));
    await publishAnother(db, { port, newer: sourceFile(videos(120, pages.length)) });
  }

  const items = pages.flatMap((page) => page.items);
  expect(pages.map((page) => page.items.length)).toEqual([50, 50, 20]);
  expect(new Set(pages.map((page) => page.generation)).size).toBe(1);
  expect(items.map((item) => item.rank)).toEqual(Array.from({ length: 120 }, (_, index) => index + 1));
  expect(new Set(items.map((item) => item.id)).size).toBe(120);
  expect((await getPage(port, "/api/trending")).generation).toBeGreaterThan(pages[0]?.generation ?? 0);
});

test("the token of a served list verifies with the published keys, and not with others", async () => {
  const [port, envFile] = [await freePort(), newEnvFile()];
  const args = ["--source", sourceFile(videos(3, 0)), "--port", String(port), "--env-file", envFile];
  await start(args).waitForOutput("TrendVault is up.");
  const { token } = await getPage(port, "/api/trending?region=gb");

  const response = await fetch(`http://127.0.0.1:${port}/.well-known/jwks.json`);
  const keys = (await response.json()) as PublicKeySet;
  const now = Date.now() / 1000;
  expect((await verifyToken(token, keys, { now })).verdict).toBe("valid");
  const x = randomBytes(32).toString("base64url");
  const others = { keys: keys.keys.map((key) => ({ ...key, x })) };
  expect((await verifyToken(token, others, { now })).verdict).toBe("tampered");
});

/** Videos that gain views steadily; each turn reverses which gains most, and adds to all of them. */
function videos(count: number, turn: number) {
  return Array.from({ length: count }, (_, index) => {
    const gain = turn % 2 === 0 ? index + 1 : count - index;
    return { id: `video${index}`, views: [1_000, 1_000 + gain * 100].map((views) => views + turn * 50_000) };
  });
}

/** Ingests newer view counts, ranks them, and waits until the origin serves the new generation. */
async function publishAnother(db: string, { port, newer }: { port: number; newer: string }): Promise<void> {
  const before = (await getPage(port, "/api/trending")).generation;
  for (const command of [["ingest", "--shift-to-now", newer], ["rank"]]) {
    const run = Bun.spawnSync([resolve(root, "writer/bin/writer"), ...command, "--db", db]);
    if (run.exitCode !== 0) throw new Error(run.stderr.toString());
  }
  const deadline = Date.now() + 240_000; // only a fault takes so long, on a busy machine
  while ((await getPage(port, "/api/trending")).generation === before) {
    if (Date.now() > deadline) throw new Error(`generation ${before} is still served`);
    await Bun.sleep(10);
  }
}

async function getPage(port: number, path: string): Promise<Page> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Page;
}
