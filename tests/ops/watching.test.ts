import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { dashboardQueries, missingParts, readRules, run, WatchedSystem } from "./watched-system.ts";

setDefaultTimeout(1_200_000); // real processes on a busy machine
const missing = missingParts();

describe.skipIf(missing !== null)(`a watched system${missing === null ? "" : ` (${missing})`}`, () => {
  let system: WatchedSystem;
  beforeAll(async () => {
    system = await WatchedSystem.start();
  });
  afterAll(() => system?.stop());

  test("promtool finds no fault in what writer, follower and origin say", async () => {
    for (const output of Object.values(await system.outputs()))
      expect(await run("promtool", ["check", "metrics"], output)).toBe("");
  });

  test("Prometheus reaches all that its configuration names", async () => {
    const jobs = ["trendvault-edge", "trendvault-edge-source", "trendvault-machines", "trendvault-origin"];
    const reached = await system.waitFor("up == 1", jobs.length);
    expect(reached.map(({ labels }) => labels.job).sort()).toEqual(jobs);
  });

  test("every query of the dashboard gives series", async () => {
    for (const expr of dashboardQueries()) await system.waitFor(expr.replaceAll("$__rate_interval", "1m"));
  });

  test("every metric of the rules and the dashboard is scraped", async () => {
    const known = new Set([...(await system.metricNames()), ...onlyAtTimes]);
    for (const expr of [...readRules().map((rule) => rule.expr), ...dashboardQueries()])
      for (const [name] of expr.matchAll(/\b(trendvault|node|probe)_[a-z_0-9]+/g))
        expect(known).toContain(name);
  });

  test("no alert is on its way while all is well", async () => {
    // This machine's disk is not the tests', and where it is busy, answers may come late, and what was published before
    // the other tests may be old by now.
    const alerts = 'ALERTS{alertname!~"TrendVaultDiskFull|TrendVaultSlow|TrendVaultEdge.*"}';
    expect(await system.parts.publisher.publishUnhurried({ bundle: true })).toBe(0);
    await system.waitFor("trendvault_generation_age_seconds < 300");
    await system.waitFor(alerts, 0);
  });
});

/** What is there only while a platform fails, or with TLS, or after somebody has pulled. */
const onlyAtTimes = [
  "trendvault_writer_source_retry_timestamp_seconds",
  "probe_ssl_earliest_cert_expiry",
  "trendvault_writer_pulled_impressions_total",
  "trendvault_writer_pulled_clicks_total",
  "trendvault_follow_failures_total",
];
