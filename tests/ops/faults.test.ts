import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "@trendvault/kit/machine";
import { missingParts, readRules, WatchedSystem } from "./watched-system.ts";

// What docs/runbook.md says, by breaking it: some faults take minutes until their alert fires.
setDefaultTimeout(3_600_000);
const missing = process.env.TEST_LONG ? missingParts() : "in long runs only";
const publishEveryMs = 20_000;

describe.skipIf(missing !== null)(`a system that is broken${missing === null ? "" : ` (${missing})`}`, () => {
  let system: WatchedSystem;
  beforeAll(async () => {
    system = await WatchedSystem.start();
    await system.waitFor("up == 1", 4);
  });
  afterAll(() => system?.stop());

  /** Waits until the expression of an alert gives a series, whatever its `for`. */
  const begins = (alert: string) => system.waitFor(expressionOf(alert));
  const ends = (alert: string) => system.waitFor(expressionOf(alert), 0);
  const firing = (alert: string) => `ALERTS{alertname="${alert}", alertstate="firing"}`;
  const publish = () => system.parts.publisher.publish({ bundle: false });

  /** Publishes until so many alerts fire, all of these. */
  async function publishUntilFiring(alerts: readonly string[]): Promise<void> {
    for (const alert of alerts)
      while ((await system.query(firing(alert))).length === 0) {
        await publish();
        await Bun.sleep(publishEveryMs);
      }
  }

  test("TrendVaultSourceFailing: a folder where a spool file should be, once", async () => {
    mkdirSync(join(system.spool, "folder.ndjson"));
    expect(await publish()).toBe(4);
    await begins("TrendVaultSourceFailing");
    expect(await publish()).toBe(0);
    await ends("TrendVaultSourceFailing");
  });

  test("TrendVaultLinesRejected: a thousand lines that are no JSON", async () => {
    writeFileSync(join(system.spool, "garbage.ndjson"), "no JSON\n".repeat(1000));
    await publish();
    await begins("TrendVaultLinesRejected");
  });

  test("TrendVaultOriginDown: the origin does not answer", async () => {
    process.kill(-system.reader.origin.pid, "SIGSTOP");
    await begins("TrendVaultOriginDown");
    process.kill(-system.reader.origin.pid, "SIGCONT");
    await ends("TrendVaultOriginDown");
  });

  test("TrendVaultOriginDegraded: the database is gone, and comes back", async () => {
    const { follower, databasePath } = system.reader;
    await follower.kill();
    renameSync(databasePath, `${databasePath}.away`);
    await begins("TrendVaultOriginDegraded");
    renameSync(`${databasePath}.away`, databasePath);
    await follower.start();
    await ends("TrendVaultOriginDegraded");
  });

  test("TrendVaultKeysRejected: a key file without a key at a reload", async () => {
    const keys = readFileSync(system.edgeKeys, "utf8");
    writeFileSync(system.edgeKeys, "no key");
    process.kill(system.reader.origin.pid, "SIGHUP");
    await begins("TrendVaultKeysRejected");
    await ends("TrendVaultOriginDegraded"); // one alert for one fault
    writeFileSync(system.edgeKeys, keys);
    process.kill(system.reader.origin.pid, "SIGHUP");
    await ends("TrendVaultKeysRejected");
  });

  test("TrendVaultWorkersRestart: workers are killed again and again", async () => {
    for (let kills = 0; kills < 4; kills++) {
      await until(() => system.workerPids().length > 0);
      for (const pid of system.workerPids()) process.kill(pid, "SIGKILL");
      await Bun.sleep(5000);
    }
    await begins("TrendVaultWorkersRestart");
  });

  test("TrendVaultEdgeRefused: requests without the edge's signature", async () => {
    for (let requests = 0; requests < 200; requests++) {
      expect((await fetch(`${system.reader.url}/api/trending`)).status).toBe(403);
      await Bun.sleep(50);
    }
    await begins("TrendVaultEdgeRefused");
  });

  test("TrendVaultEdgeDown: the edge does not answer", async () => {
    await system.parts.edge.kill();
    await begins("TrendVaultEdgeDown");
    await system.parts.edge.start();
    await ends("TrendVaultEdgeDown");
  });

  test("TrendVaultDiskFull: the follower's disk", async () => {
    const { disk } = system.parts;
    if (disk === null) return;
    const mount = `node_filesystem_size_bytes{mountpoint="${disk.path}"}`;
    const here = `(${expressionOf("TrendVaultDiskFull")}) and on (mountpoint) ${mount}`;
    await system.waitFor(mount);
    await disk.fillUpTo(500_000);
    await system.waitFor(here);
    disk.empty();
  });

  test("TrendVaultWriterStopped: the writer does not run, and nothing else is said", async () => {
    await system.waitFor(firing("TrendVaultWriterStopped"));
    const others =
      'ALERTS{alertstate="firing", alertname=~"TrendVault(Store|Bundle|Follower).*|TrendVaultOriginFrozen"}';
    expect(await system.query(others)).toEqual([]);
    await publish();
    await system.waitFor(firing("TrendVaultWriterStopped"), 0);
  });

  test("TrendVaultStoreBehind, FollowerFailing and OriginFrozen: the store's key is not valid any more", async () => {
    system.parts.store.proxy.rules.add({ kind: "status", status: 403, code: "AccessDenied" });
    await publishUntilFiring([
      "TrendVaultStoreBehind",
      "TrendVaultFollowerFailing",
      "TrendVaultOriginFrozen",
    ]);
    expect(await system.query(firing("TrendVaultFollowerBehind"))).toEqual([]);
    expect(await system.query(firing("TrendVaultSourceFailing"))).toEqual([]);
    system.parts.store.proxy.rules.clear();
    await publish();
    for (const alert of ["TrendVaultStoreBehind", "TrendVaultFollowerFailing", "TrendVaultOriginFrozen"])
      await system.waitFor(firing(alert), 0);
  });

  test("TrendVaultFollowerBehind: the follower does not run", async () => {
    await system.reader.follower.kill();
    await publishUntilFiring(["TrendVaultFollowerBehind"]);
    await system.reader.follower.start();
    await system.waitFor(firing("TrendVaultFollowerBehind"), 0);
  });

  test("TrendVaultBundleBehind and EdgeFallsBack: no bundle was made since the beginning", async () => {
    await publishUntilFiring(["TrendVaultBundleBehind", "TrendVaultEdgeFallsBack"]);
    await system.parts.publisher.publish({ bundle: true });
    await system.waitFor(firing("TrendVaultBundleBehind"), 0);
    await system.waitFor(firing("TrendVaultEdgeFallsBack"), 0);
  });

  test("TrendVaultSourcePaused: the quota is used up", async () => {
    const reason = { error: { code: 403, message: "quota", errors: [{ reason: "quotaExceeded" }] } };
    using youTube = Bun.serve({ port: 0, fetch: () => Response.json(reason, { status: 403 }) });
    const settings = { SOURCES: "youtube", YOUTUBE_API_KEY: "x", YOUTUBE_API_URL: youTube.url.href };
    await system.parts.publisher.run(["cron"], { settings });
    await begins("TrendVaultSourcePaused");
  });

  test("TrendVaultMetricsMissing: the writer's metrics are gone", async () => {
    rmSync(system.writerMetrics);
    await begins("TrendVaultMetricsMissing");
    await publish();
    await ends("TrendVaultMetricsMissing");
  });
});

function expressionOf(alert: string): string {
  return readRules().find((rule) => rule.alert === alert)?.expr ?? `no alert ${alert}`;
}
