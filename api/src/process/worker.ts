import { listen, openOrigin } from "../origin.ts";
import { readSettings, type Settings } from "../settings.ts";
import type { Logger } from "./log.ts";
import { cannotStart, type SupervisorMessage, type WorkerMessage } from "./messages.ts";
import { Reporter } from "./reporter.ts";

const lookEvery = 50; // milliseconds; a published generation has to be seen within 250
const closingFor = 500; // milliseconds of answering with Connection: close before the port is given up
const patience = 5000; // milliseconds for open requests after that

/** One process of the origin. It leaves when it is told to, or when its supervisor is gone. */
export async function runWorker(env: Record<string, string | undefined>): Promise<void> {
  process.on("disconnect", () => process.exit(0));
  const toldPort = new Promise<number>((resolve) => {
    process.on("message", ({ port }: SupervisorMessage) => resolve(port));
  });
  const settings = readSettingsQuietly(env);
  const origin = await openOrigin(settings, { log });
  const server = listen(origin, { host: settings.host, port: await toldPort });
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
  tell({ type: "ready" });
}

// The supervisor reads the same settings and says what is wrong with them.
function readSettingsQuietly(env: Record<string, string | undefined>): Settings {
  try {
    return readSettings(env);
  } catch {
    process.exit(cannotStart);
  }
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
  process.on("SIGHUP", () => {}); // for the supervisor; a terminal sends it to all
}

const log: Logger = (level, event, fields = {}) => tell({ type: "log", level, event, fields });

function tell(message: WorkerMessage): void {
  process.send?.(message);
}
