import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OriginProcess } from "../../api/test-support/origin-process.ts";
import { until } from "../../api/test-support/until.ts";
import { TestStore } from "../../store/test-support/test-store.ts";
import { FollowerProcess } from "./follower-process.ts";

/*
 * Measures, with the real writer, a real S3 server and a real origin: how long after a generation was committed a
 * follower's origin serves it, and how long a follower takes to start from nothing.
 *   bun follow/test-support/measure-lag.ts [PUBLISHES] [SECONDS BETWEEN] [INTERVAL]
 */
const [publishes = 50, pauseSeconds = 1, interval = 1] = process.argv.slice(2).map(Number);
const root = join(import.meta.dir, "../..");
const folder = mkdtempSync(join(tmpdir(), "trendvault-following-"));
const seed = crypto
  .getRandomValues(new Uint8Array(32))
  .toBase64({ alphabet: "base64url", omitPadding: true });
const store = await TestStore.start();
const env = {
  PATH: process.env.PATH ?? "",
  DB_PATH: join(folder, "writer.db"),
  SOURCES: "demo",
  ...store.settings,
  PUBLISH: store.address,
  PUBLISH_SIGNING_KEY: seed,
};

async function runWriter(...argv: string[]): Promise<string> {
  const child = Bun.spawn([join(root, "writer/bin/writer"), ...argv], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) !== 0) throw new Error(`writer ${argv.join(" ")}: ${out}${errors}`);
  return out;
}

function percentile(values: number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
}

const database = join(folder, "lists.db");
await runWriter("migrate");
await runWriter("ingest", "demo");
await runWriter("rank");
await runWriter("publish");
const jwks = await runWriter("publication-keys");
const followEnv = { ...store.settings, FOLLOW_JWKS: jwks, FOLLOW_INTERVAL_SECONDS: String(interval) };
const startedAt = performance.now();
const once = new FollowerProcess([store.address, "--database", database, "--once"], followEnv);
await once.ended();
console.log(
  `from nothing: ${((performance.now() - startedAt) / 1000).toFixed(2)} s`,
  once.lines.at(-1)?.message,
);
const follower = new FollowerProcess([store.address, "--database", database], followEnv);
const origin = await OriginProcess.start(database);
const lags = { commit: [] as number[], published: [] as number[], build: [] as number[] };
try {
  for (let count = 0; count < publishes; count++) {
    await runWriter("rank");
    const committedAt = performance.now();
    await runWriter("publish");
    const publishedAt = performance.now();
    const pointer = await new Bun.S3Client(store.direct).file(`${store.prefix}current.json`).json();
    await until(async () => (await origin.readiness()).generation === pointer.generation);
    lags.commit.push(performance.now() - committedAt);
    lags.published.push(performance.now() - publishedAt);
    const adopted = follower.lines.findLast(({ event }) => event === "adopted");
    const seconds = (lags.commit.at(-1) ?? 0) / 1000;
    console.log(
      `${pointer.generation}: ${seconds.toFixed(2)} s, built in ${adopted?.build_seconds} s, ${adopted?.bytes} bytes`,
    );
    await Bun.sleep(pauseSeconds * 1000 * Math.random());
  }
  for (const { event, build_seconds } of follower.lines)
    if (event === "adopted") lags.build.push(Number(build_seconds) * 1000);
  for (const [name, values] of Object.entries(lags))
    console.log(
      `${name}: median ${(percentile(values, 0.5) / 1000).toFixed(2)} s, p95 ${(percentile(values, 0.95) / 1000).toFixed(2)} s, most ${(Math.max(...values) / 1000).toFixed(2)} s of ${values.length}`,
    );
  console.log(`file: ${Math.round(Bun.file(database).size / 1e6)} MB`);
} finally {
  follower.kill("SIGKILL");
  await origin.remove();
  await store.remove();
  rmSync(folder, { recursive: true, force: true });
}
