import { afterEach, describe, expect, setSystemTime, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { generationMark, generationMarkOf } from "@trendvault/kit/database";
import { exchange } from "@trendvault/kit/load";
import { root } from "@trendvault/kit/machine";
import { Counters, sumCounters } from "../serving/counters.ts";
import { adminRoutes } from "./admin.ts";
import type { WorkerReport } from "./messages.ts";

const statistics = {
  reports: [],
  goneCounters: null,
  exits: { crashed: 0, hung: 0 },
  reasons: [],
  hasRejectedKeys: false,
};

function routes(changed: Partial<ReturnType<Parameters<typeof adminRoutes>[0]>>) {
  return adminRoutes(() => ({ ...statistics, ...changed }));
}

describe("/readyz", () => {
  function report(changes: Partial<WorkerReport> = {}): WorkerReport {
    const counters = new Counters().read();
    return {
      counters,
      generation: generationMark(7),
      degradedReason: null,
      eventLoopLagSeconds: 0,
      residentBytes: 1,
      connections: 0,
      slot: 0,
      pid: 1,
      answered: 0,
      ...changes,
    };
  }

  const gone = "Cannot open x.db: there is no such file";

  test.each([
    ["all workers serve the newest", [report(), report()], 200, { status: "ok", reasons: [], generation: 7 }],
    [
      "one is behind and cannot read",
      [report(), report({ degradedReason: gone, generation: generationMark(5) })],
      200,
      { status: "degraded", reasons: [gone], generation: 5 },
    ],
    [
      "all are degraded for the same reason",
      [report({ degradedReason: gone }), report({ degradedReason: gone })],
      200,
      { reasons: [gone] },
    ],
    [
      "nothing was published yet",
      [report({ generation: null })],
      503,
      { status: "unavailable", reasons: ["No worker has a published generation yet"], generation: null },
    ],
    ["no worker reports", [], 503, { status: "unavailable", workers: 0 }],
  ])("when %s, /readyz says so", async (_name, reports, status, body) => {
    const response = routes({ reports })["/readyz"]();
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject(body);
  });

  test("a clock that is behind what was published is a reason", async () => {
    for (const [ahead, reasons] of [
      [30, []],
      [86_400, ["The clock of this machine is 86400 s before the newest generation: set it"]],
    ] as const) {
      setSystemTime(new Date(1_800_000_000_000));
      const generation = generationMark(7, 1_800_000_000 + ahead);
      const response = routes({ reports: [report({ generation })] })["/readyz"]();
      setSystemTime();
      expect(await response.json()).toMatchObject({ status: ahead === 30 ? "ok" : "degraded", reasons });
    }
  });

  test("what no worker says of itself is a reason, too", async () => {
    const response = routes({ reports: [report()], reasons: ["Worker 5 does not report"] })["/readyz"]();
    expect(await response.json()).toMatchObject({
      status: "degraded",
      reasons: ["Worker 5 does not report"],
    });
  });

  test.each([
    ["/readyz?x", "Host: admin", 200],
    ["/readyz", "Host:", 200],
    ["/readyz", "Host: [::1", 200],
    ["/", "Host: admin", 404],
  ])("a request for %s with %s is answered with %p", async (target, host, status) => {
    const server = Bun.serve({ hostname: "127.0.0.1", port: 0, routes: routes({ reports: [report()] }) });
    const request = `GET ${target} HTTP/1.1\r\n${host}\r\nConnection: close\r\n\r\n`;
    const answer = await exchange(server.url.href, request);
    await server.stop(true);
    expect(answer).toStartWith(`HTTP/1.1 ${status} `);
  });

  test.each([
    ["all is well", { reports: [report()] }, 0, 0],
    [
      "two workers give the same reason, and there is another",
      { reports: [report({ degradedReason: gone }), report({ degradedReason: gone })], reasons: ["x"] },
      2,
      0,
    ],
    ["nothing was published", { reports: [report({ generation: null })] }, 1, 0],
    [
      "a key file was bad",
      { reports: [report()], reasons: ["A key file cannot be used"], hasRejectedKeys: true },
      1,
      1,
    ],
  ])("when %s, /metrics counts the reasons of /readyz", async (_name, changes, reasons, keysRejected) => {
    const text = await (await routes(changes)["/metrics"]()).text();
    const lines = text.split("\n");
    expect(lines).toContain(`trendvault_degraded_reasons ${reasons}`);
    expect(lines).toContain(`trendvault_keys_rejected ${keysRejected}`);
  });
});

describe("/metrics", () => {
  function report(requests: number, changes: Partial<WorkerReport> = {}): WorkerReport {
    const counters = new Counters();
    counters.byRoute.trending.ok = requests;
    counters.observe(0.00002);
    const generation = generationMark(7, 1000);
    return {
      counters: counters.read(),
      generation,
      degradedReason: null,
      eventLoopLagSeconds: 0.5,
      residentBytes: 9,
      connections: 0,
      slot: 0,
      pid: 1,
      answered: requests,
      ...changes,
    };
  }

  afterEach(() => void setSystemTime());

  async function writeAll(
    reports: WorkerReport[],
    now: number,
    others: Parameters<typeof routes>[0] = {},
  ): Promise<string> {
    setSystemTime(new Date(now * 1000));
    const answer = await routes({ reports, ...others })["/metrics"]();
    return answer.text();
  }

  test("counters add up over the workers that run and those that are away", async () => {
    const gone = sumCounters(report(1).counters, report(2).counters);
    const text = await writeAll([report(10), report(20)], 1060, { goneCounters: gone });
    const lines = text.split("\n");
    expect(lines).toContain('trendvault_requests_total{route="trending",status="200"} 33');
    expect(lines).toContain("trendvault_cache_hits_total 33");
    expect(lines).toContain('trendvault_sampled_request_duration_seconds_bucket{le="0.00001"} 0');
    expect(lines).toContain('trendvault_sampled_request_duration_seconds_bucket{le="0.00005"} 4');
    expect(lines).toContain('trendvault_sampled_request_duration_seconds_bucket{le="+Inf"} 4');
    expect(lines).toContain("trendvault_sampled_request_duration_seconds_count 4");
  });

  test("gauges say the oldest generation, how many workers are degraded, and each worker's memory", async () => {
    const degraded = { degradedReason: "gone", generation: generationMark(5, 900), slot: 1 };
    const text = await writeAll([report(1), report(1, degraded)], 1060);
    const lines = text.split("\n");
    expect(lines).toContain("trendvault_generation 5");
    expect(lines).toContain("trendvault_generation_age_seconds 160");
    expect(lines).toContain("trendvault_workers 2");
    expect(lines).toContain("trendvault_degraded_workers 1");
    expect(lines).toContain('trendvault_event_loop_lag_seconds{worker="1"} 0.5');
    expect(lines).toContain('trendvault_resident_memory_bytes{worker="1"} 9');
  });

  test("each metric is documented, and each documented one is there", async () => {
    const text = await writeAll([report(1)], 1060);
    const guide = readFileSync(join(root, "docs/operations/run.md"), "utf8");
    const table = /^\| metric \| type[\s\S]*?\n\n/m.exec(guide)?.[0] ?? "";
    const rows = table
      .split("\n")
      .slice(2)
      .map((row) => row.split("|")[1] ?? "");
    const documented = rows.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)]).map(([, name]) => name);
    const names = [...text.matchAll(/^# HELP trendvault_(\w+)/gm)].map(([, name]) => name);
    expect(names.sort()).toEqual(documented.sort());
  });

  test("the age is that of the writer that has not published for longest", async () => {
    const generation = generationMarkOf(generationMark(7, 1000), generationMark(257, 400));
    const text = await writeAll([report(0, { generation })], 1060);
    expect(text.split("\n")).toContain("trendvault_generation_age_seconds 660");
  });

  test("without a worker or a generation there is no generation, and the number of workers is 0", async () => {
    const text = await writeAll([], 1);
    expect(text).toContain("trendvault_workers 0");
    const unpublished = await writeAll([report(0, { generation: null })], 1);
    expect(unpublished).not.toMatch(/^trendvault_generation/m);
  });

  test("workers that crashed and that hung are counted apart, from 0 on", async () => {
    const text = await writeAll([], 1, { exits: { crashed: 3, hung: 0 } });
    expect(text).toContain('trendvault_worker_exits_total{reason="crashed"} 3\n');
    expect(text).toContain('trendvault_worker_exits_total{reason="hung"} 0\n');
  });
});
