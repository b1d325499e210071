import { splitTarget } from "../http/request-target.ts";
import type { CounterSnapshot } from "../serving/counters.ts";
import type { Report } from "./messages.ts";

/** What runs, and what those that are gone had counted: counters only ever grow. */
export type Reports = { running: Report[]; departed: CounterSnapshot };

/** What the admin port answers: /metrics for Prometheus, /readyz for people and load balancers. */
export function adminPages(reports: () => Reports): (request: Request) => Response | Promise<Response> {
  return (request) => {
    const { path } = splitTarget(request.url);
    if (path === "/readyz") return readiness(reports().running);
    if (path === "/metrics") return metrics(reports());
    return new Response("There are /metrics and /readyz.\n", { status: 404 });
  };
}

/** 200 while there is something to serve, also when that is not the newest; the reasons say why. */
export function readiness(running: Report[]): Response {
  const served = running.flatMap(({ generation }) => generation ?? []);
  const reasons = [...new Set(running.flatMap(({ trouble }) => trouble ?? []))];
  const isReady = served.length > 0;
  if (!isReady && reasons.length === 0) reasons.push("No worker has a published generation yet");
  return Response.json(
    {
      status: isReady ? (reasons.length === 0 ? "ok" : "degraded") : "unavailable",
      reasons,
      workers: running.length,
      generation: isReady ? Math.min(...served.map(({ id }) => id)) : null,
    },
    { status: isReady ? 200 : 503, headers: { "cache-control": "no-store" } },
  );
}

async function metrics(reports: Reports): Promise<Response> {
  const { metricsText } = await import("./metrics-text.ts");
  const { text, contentType } = await metricsText(reports, Date.now() / 1000);
  return new Response(text, { headers: { "content-type": contentType } });
}
