import { afterEach, expect, test } from "bun:test";
import { DatabaseBuilder, videos } from "@trendvault/kit/database";
import { startLoad } from "@trendvault/kit/load";
import { until } from "@trendvault/kit/machine";
import { OriginProcess } from "@trendvault/kit/origin-process";
import { oldestReadableVersion, supportedSchemaVersion } from "../src/database/schema-version.ts";

// Writer and origin are upgraded one after the other, in either order, while clients ask for all that there is.
const lists = ["GB", "DE"].map((region) => ({ region, videos: videos(60, region) }));
const targets = [
  "/api/trending",
  "/api/trending?region=DE&limit=7&cursor=1-7",
  "/api/trending?cursor=1-24",
  "/api/videos/GB3",
  "/api/regions",
  "/api/about",
  "/?region=DE",
  "/feeds/DE.atom",
];

let builder: DatabaseBuilder;
let origin: OriginProcess;

afterEach(async () => {
  await origin.remove();
  builder.remove();
});

/** Starts an origin on a database of a schema version, and load on it. */
async function serve(version: number) {
  builder = new DatabaseBuilder(undefined, { version });
  builder.publish(lists);
  origin = await OriginProcess.start(builder.path, { WORKERS: "2" });
  return startLoad(origin.url, {
    connections: 8,
    targets,
    check: ({ status, body }) => (status === 200 ? null : `status ${status}: ${body.slice(0, 200)}`),
  });
}

async function publishAndServe(): Promise<void> {
  const generation = builder.publish(lists);
  await until(async () => (await origin.readiness()).generation === generation);
  await until(async () => (await origin.readiness()).status === "ok");
}

test("the origin first: it serves from the oldest schema that it reads, and goes on while that is migrated", async () => {
  const load = await serve(oldestReadableVersion);
  await until(() => load.result.answers > 200);
  await publishAndServe();
  for (let version = oldestReadableVersion + 1; version <= supportedSchemaVersion; version++) {
    builder.migrate(version);
    await publishAndServe();
  }
  const { answers } = load.result;
  await until(() => load.result.answers > answers + 200);
  expect((await load.stop()).failures).toEqual([]);
});

test("the writer first: a migration that older origins can read costs no request", async () => {
  const load = await serve(supportedSchemaVersion);
  await until(() => load.result.answers > 200);
  builder.database.transaction(() => {
    builder.database.run("CREATE TABLE of_tomorrow (x INTEGER) STRICT");
    builder.database.run("INSERT INTO schema_migrations VALUES (?, 'of_tomorrow', 'x', 0)", [
      supportedSchemaVersion + 1,
    ]);
    builder.database.run(`PRAGMA user_version = ${supportedSchemaVersion}`);
  })();
  await publishAndServe();
  const before = origin.workerPids();
  origin.kill("SIGHUP"); // to an origin of the same version, as after a downgrade
  await until(() => !origin.workerPids().some((pid) => before.includes(pid)));
  await publishAndServe();
  expect((await load.stop()).failures).toEqual([]);
});

test("an origin that cannot read what the writer has migrated stays as it is when it is replaced, and says why", async () => {
  const load = await serve(supportedSchemaVersion);
  await until(() => load.result.answers > 200);
  await load.stop();
  const before = origin.workerPids();
  builder.database.run("INSERT INTO schema_migrations VALUES (99, 'x', 'x', 0)");
  await until(async () => (await origin.readiness()).reasons.join().includes("schema is version 99"));
  origin.kill("SIGHUP");
  await until(() => origin.lines.some(({ event }) => event === "worker_replacement_failed"));
  expect(origin.workerPids()).toEqual(before);
  expect((await fetch(`${origin.url}api/trending`)).status).toBe(200);
});
