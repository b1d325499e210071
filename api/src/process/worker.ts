import type { Logger } from "../logging/logger.ts";
import { TaskGuard } from "../logging/task-guard.ts";
import { listen, type Origin, openOrigin } from "../origin.ts";
import { readSettings, type Settings } from "../settings.ts";
import { explainBindError, findFreePort } from "./free-port.ts";
import type { SupervisorMessage, WorkerMessage, WorkerReport } from "./messages.ts";
import type { RequestTracing } from "./request-tracing.ts";
import { WorkerReporter } from "./worker-reporter.ts";

const tickIntervalMs = 20; // a published generation has to be seen within 100
const drainTurns = 10; // answers have Connection: close for so many turns before the port is closed:
const drainTurnMs = 50; // half a second, and longer when this process has no processor to answer with
const openRequestsTimeoutMs = 5000; // and open requests have this long after that

/**
 * One process of the origin. `sharedPort` is where workers listen already; the first one has none, and makes sure that
 * no other program listens on the port of the settings. It stops on SIGTERM and SIGINT, and when its supervisor has
 * ended. @throws Error that says what to do when it cannot start
 */
export async function runWorker(
  env: Record<string, string | undefined>,
  sharedPort: number | null,
): Promise<void> {
  process.on("disconnect", () => process.exit(0));
  process.on("SIGHUP", () => {}); // for the supervisor; a terminal sends it to all
  const settings = readSettings(env);
  const origin = await openOrigin(settings, { log });
  process.on("message", ({ type }: SupervisorMessage) => {
    if (type === "reopen") origin.reopen();
  });
  const port = sharedPort ?? findFreePort(settings.host, settings.port);
  const tracing = traceRequests(origin, settings);
  const where = { host: settings.host, port, answer: tracing?.answer ?? origin.answer };
  const server = explainBindError(settings.host, port, () => listen(origin, where));
  const guard = new TaskGuard(log);
  const sendReport = (report: WorkerReport) => send({ type: "report", report });
  const reporter = new WorkerReporter(origin, { guard, tickIntervalMs, send: sendReport });
  const follow = () => guard.run("follow the database", () => origin.tick(Date.now()));
  setInterval(() => {
    follow();
    guard.run("report", () => reporter.tick(performance.now()));
  }, tickIntervalMs);
  origin.onManyAnswers = () => {
    follow();
    guard.run("report", () => reporter.reportIfDue(performance.now()));
  };
  stopOnSignal(async () => {
    origin.drain();
    for (let turn = 0; turn < drainTurns; turn++) await Bun.sleep(drainTurnMs);
    await Promise.race([server.stop(), Bun.sleep(openRequestsTimeoutMs)]);
    await tracing?.stop();
    reporter.report();
  });
  send({ type: "ready", port });
}

/** Null where no spans are exported: then nothing of it is loaded, and requests go straight to the origin. */
function traceRequests({ answer }: Origin, { tracing, edgeKeys }: Settings): RequestTracing | null {
  if (tracing === null) return null;
  const loaded = require("./request-tracing.ts") as typeof import("./request-tracing.ts");
  return new loaded.RequestTracing(answer, { ...tracing, isGuarded: edgeKeys !== null, log });
}

function stopOnSignal(finish: () => Promise<void>): void {
  let isStopping = false;
  const stop = async () => {
    if (isStopping) return;
    isStopping = true;
    await finish();
    process.exit(0);
  };
  process.removeAllListeners("disconnect");
  for (const event of ["SIGTERM", "SIGINT", "disconnect"]) process.on(event, stop);
}

const log: Logger = (level, event, message, facts = {}) =>
  send({ type: "log", level, event, message, facts });

function send(message: WorkerMessage): void {
  process.send?.(message);
}
