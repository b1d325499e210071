import { cannotStart } from "./process/messages.ts";
import { readSettings } from "./settings.ts";

const isWorker = process.argv[2] === "worker";

// Each kind of process loads what it needs and no more: that is most of its start.
async function main(): Promise<void> {
  const settings = readSettings(process.env);
  if (isWorker) await (await import("./process/worker.ts")).runWorker(settings);
  else await (await import("./process/supervisor.ts")).runSupervisor(settings);
}

// No await here: the bundle with bytecode is CommonJS.
main().catch((error: Error) => {
  console.error(error.message);
  process.exit(isWorker ? cannotStart : 1);
});
