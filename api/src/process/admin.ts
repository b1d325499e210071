import { splitTarget } from "../http/request-target.ts";
import type { WorkerReport } from "./messages.ts";
import { type Metrics, writeMetrics } from "./metrics.ts";

/** What the admin port needs of the worker pool, and why the origin is degraded although no worker says so. */
export type WorkerStatistics = {
  readonly reports: WorkerReport[];
  readonly exitedCounters: Metrics;
  readonly reasons: string[];
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
export function readiness({
  reports,
  reasons: others,
}: Pick<WorkerStatistics, "reports" | "reasons">): Response {
  const served = reports.flatMap(({ generation }) => generation ?? []);
  const reasons = [...new Set([...reports.flatMap(({ degradedReason }) => degradedReason ?? []), ...others])];
  const isReady = served.length > 0;
  if (!isReady && reasons.length === 0) reasons.push("No worker has a published generation yet");
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

async function metrics({ reports, exitedCounters }: WorkerStatistics): Promise<Response> {
  const { text, contentType } = await writeMetrics(reports, exitedCounters, Date.now() / 1000);
  return new Response(text, { headers: { "content-type": contentType } });
}
