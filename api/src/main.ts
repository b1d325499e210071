import { cannotStartCode } from "./process/messages.ts";

const [, , role, argument = ""] = process.argv;
const isWorker = role === "worker";
const sharedPort = argument === "" ? null : Number(argument);

// Each kind of process loads what it needs and no more: with all of them loaded, a start takes a fifth longer.
async function main(): Promise<void> {
  if (isWorker) await (await import("./process/worker.ts")).runWorker(process.env, sharedPort);
  else if (role === "inspector") (await import("./database/inspector.ts")).runInspector(argument);
  else await (await import("./process/supervisor.ts")).runSupervisor(process.env);
}

// No await here: the bundle with bytecode is CommonJS.
main().catch((error: Error) => {
  console.error(error.message);
  process.exit(isWorker ? cannotStartCode : 1);
});
