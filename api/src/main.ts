import { cannotStartCode } from "./process/messages.ts";

const [, , role, port] = process.argv;
const isWorker = role === "worker";
const sharedPort = port === undefined ? null : Number(port);

// Each kind of process loads what it needs and no more: with both of them loaded, a start takes a fifth longer.
async function main(): Promise<void> {
  if (isWorker) await (await import("./process/worker.ts")).runWorker(process.env, sharedPort);
  else await (await import("./process/supervisor.ts")).runSupervisor(process.env);
}

// No await here: the bundle with bytecode is CommonJS.
main().catch((error: Error) => {
  console.error(error.message);
  process.exit(isWorker ? cannotStartCode : 1);
});
