import { cannotStart } from "./process/messages.ts";
import { runSupervisor } from "./process/supervisor.ts";
import { runWorker } from "./process/worker.ts";
import { readSettings } from "./settings.ts";

const isWorker = process.argv[2] === "worker";
try {
  const settings = readSettings(process.env);
  await (isWorker ? runWorker(settings) : runSupervisor(settings));
} catch (error) {
  console.error((error as Error).message);
  process.exit(isWorker ? cannotStart : 1);
}
