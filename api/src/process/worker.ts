import { listen, openOrigin } from "../origin.ts";
import type { Settings } from "../settings.ts";
import type { Logger } from "./log.ts";
import type { WorkerMessage } from "./messages.ts";
import { Reporter } from "./reporter.ts";

const lookEvery = 50; // milliseconds; a published generation has to be seen within 250
const closingFor = 500; // milliseconds of answering with Connection: close before the port is given up
const patience = 5000; // milliseconds for open requests after that

/** One process of the origin. It leaves when it is told to, or when its supervisor is gone. */
export async function runWorker(settings: Settings): Promise<void> {
  const origin = await openOrigin(settings, { log });
  const server = listen(origin, settings);
  const reporter = new Reporter(origin, (report) => tell({ type: "report", report }));
  const timer = setInterval(() => {
    origin.keeper.tick(Date.now());
    reporter.tick(performance.now());
  }, lookEvery);
  let leaving = false;
  const leave = async () => {
    if (leaving) return;
    leaving = true;
    origin.state.draining = true;
    await Bun.sleep(closingFor);
    await Promise.race([server.stop(), Bun.sleep(patience)]);
    clearInterval(timer);
    reporter.report();
    process.exit(0);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, leave);
  process.on("SIGHUP", () => {}); // for the supervisor; a terminal sends it to all
  process.on("disconnect", leave);
  tell({ type: "ready" });
}

const log: Logger = (level, event, fields = {}) => tell({ type: "log", level, event, fields });

function tell(message: WorkerMessage): void {
  process.send?.(message);
}
