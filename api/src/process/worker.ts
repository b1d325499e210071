import { listen, openOrigin } from "../origin.ts";
import { readSettings } from "../settings.ts";
import { claimPort, explainBindError } from "./claim-port.ts";
import type { Logger } from "./log.ts";
import type { WorkerMessage } from "./messages.ts";
import { Reporter } from "./reporter.ts";

const lookEvery = 50; // milliseconds; a published generation has to be seen within 250
const closingFor = 500; // milliseconds of answering with Connection: close before the port is given up
const patience = 5000; // milliseconds for open requests after that

/**
 * One process of the origin. `sharedPort` is where workers listen already; the first one has none, and makes sure
 * that nobody else has the port of the settings. It leaves when it is told to, or when its supervisor is gone.
 * Throws an Error that says what to do when it cannot start.
 */
export async function runWorker(
  env: Record<string, string | undefined>,
  sharedPort: number | null,
): Promise<void> {
  process.on("disconnect", () => process.exit(0));
  process.on("SIGHUP", () => {}); // for the supervisor; a terminal sends it to all
  const settings = readSettings(env);
  const origin = await openOrigin(settings, { log });
  const port = sharedPort ?? claimPort(settings.host, settings.port);
  const server = explainBindError(settings.host, port, () => listen(origin, { host: settings.host, port }));
  const reporter = new Reporter(origin, (report) => tell({ type: "report", report }));
  setInterval(() => {
    origin.keeper.tick(Date.now());
    origin.state.timeNext = true;
    reporter.tick(performance.now());
  }, lookEvery);
  leaveWhenTold(async () => {
    origin.state.draining = true;
    await Bun.sleep(closingFor);
    await Promise.race([server.stop(), Bun.sleep(patience)]);
    reporter.report();
  });
  tell({ type: "ready", port });
}

function leaveWhenTold(finish: () => Promise<void>): void {
  let leaving = false;
  const leave = async () => {
    if (leaving) return;
    leaving = true;
    await finish();
    process.exit(0);
  };
  process.removeAllListeners("disconnect");
  for (const event of ["SIGTERM", "SIGINT", "disconnect"]) process.on(event, leave);
}

const log: Logger = (level, event, fields = {}) => tell({ type: "log", level, event, fields });

function tell(message: WorkerMessage): void {
  process.send?.(message);
}
