import { splitTarget } from "../http/request-target.ts";
import type { WorkerReport } from "./messages.ts";
import { type Metrics, type WorkerExits, writeMetrics } from "./metrics.ts";

/** What the admin port needs of the worker pool, and why the origin is degraded although no worker says so. */
export type WorkerStatistics = {
  readonly reports: WorkerReport[];
  readonly exitedCounters: Metrics;
  readonly exits: WorkerExits;
  readonly reasons: string[];
  /** Whether the last reload found a bad key file. */
  readonly hasRejectedKeys: boolean;
};

/** What the admin port answers: /metrics for Prometheus, /readyz for people and load balancers. */
export function adminHandler(workers: WorkerStatistics): (request: Request) => Response | Promise<Response> {
  return (request) => {
    const { path } = splitTarget(request.url);
    if (path === "/readyz") return readiness(workers);
    if (path === "/metrics") return metrics(workers);
    return new Response("No such path; there are /metrics and /readyz.\n", { status: 404 });
  };
}

/** 200 while there is something to serve, also when it is not the newest; `reasons` say why it is not. */
export function readiness(workers: Pick<WorkerStatistics, "reports" | "reasons">): Response {
  const { reports } = workers;
  const served = reports.flatMap(({ generation }) => generation ?? []);
  const reasons = findReasons(workers);
  const isReady = served.length > 0;
  return Response.json(
    {
      status: isReady ? (reasons.length === 0 ? "ok" : "degraded") : "unavailable",
      reasons,
      workers: reports.length,
      generation: isReady ? Math.min(...served.map(({ id }) => id)) : null,
    },
    { status: isReady ? 200 : 503, headers: { "cache-control": "no-store" } },
  );
}

/** Why something else is served than the newest generation, whole, by all workers. */
function findReasons({ reports, reasons: others }: Pick<WorkerStatistics, "reports" | "reasons">): string[] {
  const reasons = [...new Set([...reports.flatMap(({ degradedReason }) => degradedReason ?? []), ...others])];
  const isReady = reports.some(({ generation }) => generation !== null);
  return isReady || reasons.length > 0 ? reasons : ["No worker has a published generation yet"];
}

async function metrics(workers: WorkerStatistics): Promise<Response> {
  const { exits, hasRejectedKeys } = workers;
  const supervision = { exits, hasRejectedKeys, degradedReasons: findReasons(workers).length };
  const { reports, exitedCounters } = workers;
  const now = Date.now() / 1000;
  const { text, contentType } = await writeMetrics({ reports, exitedCounters, supervision }, now);
  return new Response(text, { headers: { "content-type": contentType } });
}
