import { Database } from "bun:sqlite";
import { mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { newFolder } from "@trendvault/kit/machine";
import { missingServer, TestStore } from "@trendvault/kit/object-store";
import { FollowingOrigin, newEnvironment } from "../test-support/publishing-system.ts";

// Prints, as JSON, how long a generation takes from the writer's commit to an origin on a follower's file, over a real S3
// server on this machine, and how long a follower takes to begin with nothing. The database is copied, not changed.
//   bun tests/store/bench/follower-lag.ts DATABASE [ROUNDS]

const [, , from = "", rounds = "10"] = process.argv;
const root = resolve(import.meta.dir, "../../..");
const missing = missingServer();
if (missing !== null) {
  console.error(missing);
  process.exit(1);
}
const folder = newFolder("lag");
const databasePath = join(folder, "writer.db");
const store = await TestStore.start();
const env = {
  ...(await newEnvironment(store)),
  DB_PATH: databasePath,
  SOURCES: `spool:${join(folder, "spool")}`,
};
let reader: FollowingOrigin | undefined;
try {
  copyDatabase();
  mkdirSync(join(folder, "spool"));
  await runWriter("cron");
  const settings = { ...env, FOLLOW_URLS: store.address, FOLLOW_JWKS: await publicationKeys() };
  const started = performance.now();
  reader = await FollowingOrigin.start("bench", { folder, dataFolder: join(folder, "data"), env: settings });
  const startSeconds = (performance.now() - started) / 1000;
  const lags: number[] = [];
  for (let round = 0; round < Number(rounds); round++) lags.push(await measureLag(reader.url));
  console.log(JSON.stringify({ start_seconds: startSeconds, lag_seconds: lags }));
} finally {
  await reader?.stop();
  await store.remove();
  rmSync(folder, { recursive: true });
}

function copyDatabase(): void {
  using database = new Database(from, { readonly: true });
  database.run("VACUUM INTO ?", [databasePath]);
  using copy = new Database(databasePath);
  copy.run("PRAGMA journal_mode = WAL");
}

/** Seconds from reading the new generation in the writer's database to reading it from the origin. */
async function measureLag(url: string): Promise<number> {
  using database = new Database(databasePath, { readonly: true });
  const newest = () =>
    database.query<{ id: number }, []>("SELECT max(id) AS id FROM generations").get()?.id ?? 0;
  await Bun.sleep(Math.random() * 1000); // the follower looks each second
  const before = newest();
  const run = runWriter("cron");
  const visible = async () => {
    while (newest() === before) await Bun.sleep(5);
    const committed = performance.now();
    while ((await servedBy(url)) <= before) await Bun.sleep(10);
    return (performance.now() - committed) / 1000;
  };
  const [seconds] = await Promise.all([visible(), run]);
  return seconds;
}

async function servedBy(url: string): Promise<number> {
  const answer = await fetch(`${url}/api/regions`);
  return ((await answer.json()) as { generation: number }).generation;
}

/** @throws Error when it fails */
async function runWriter(...words: string[]): Promise<string> {
  const command = [join(root, "writer/bin/writer"), ...words];
  const child = Bun.spawn(command, { cwd: root, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [printed, said] = [await child.stdout.text(), await child.stderr.text()];
  if ((await child.exited) !== 0) throw new Error(`writer ${words.join(" ")} failed: ${said}`);
  return printed;
}

function publicationKeys(): Promise<string> {
  return runWriter("publication-keys");
}
