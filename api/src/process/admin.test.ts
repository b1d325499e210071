import { expect, test } from "bun:test";
import { generationMark } from "../../test-support/generation-mark.ts";
import { Counters } from "../serving/counters.ts";
import { adminHandler, readiness } from "./admin.ts";
import type { WorkerReport } from "./messages.ts";

function report(changes: Partial<WorkerReport> = {}): WorkerReport {
  const counters = new Counters().read();
  return {
    counters,
    generation: generationMark(7),
    degradedReason: null,
    eventLoopLagSeconds: 0,
    residentBytes: 1,
    ...changes,
  };
}

const statistics = {
  reports: [],
  exitedCounters: [],
  exits: { crashed: 0, hung: 0 },
  reasons: [],
  hasRejectedKeys: false,
};

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
  const response = readiness({ reports, reasons: [] });
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject(body);
});

test("what no worker says of itself is a reason, too", async () => {
  const response = readiness({ reports: [report()], reasons: ["Worker 5 does not report"] });
  expect(await response.json()).toMatchObject({ status: "degraded", reasons: ["Worker 5 does not report"] });
});

test.each(["http://admin/readyz?x", "/readyz", "http://[::1/readyz"])(
  "/readyz is found by %s, with any Host",
  async (url) => {
    const pages = adminHandler(() => ({ ...statistics, reports: [report()] }));
    expect((await pages({ url } as Request)).status).toBe(200);
  },
);

test.each([
  ["all is well", { reports: [report()] }, 0, 0],
  [
    "two workers give the same reason, and the supervisor another",
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
  const pages = adminHandler(() => ({ ...statistics, ...changes }));
  const text = await (await pages(new Request("http://admin/metrics"))).text();
  const lines = text.split("\n");
  expect(lines).toContain(`trendvault_degraded_reasons ${reasons}`);
  expect(lines).toContain(`trendvault_keys_rejected ${keysRejected}`);
});
