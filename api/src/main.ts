import { cannotStartCode } from "./process/messages.ts";

const [, , role, argument = ""] = process.argv;
const isWorker = role === "worker";
const sharedPort = argument === "" ? null : Number(argument);

// Each kind of process loads what it needs and no more: with all of them loaded, a start takes a fifth longer.
async function main(): Promise<void> {
  if (isWorker) {
    const loaded = require("./process/worker.ts") as typeof import("./process/worker.ts");
    await loaded.runWorker(process.env, sharedPort);
  } else if (role === "inspector") {
    const loaded = require("./database/inspector.ts") as typeof import("./database/inspector.ts");
    loaded.runInspector(argument);
  } else {
    const loaded = require("./process/supervisor.ts") as typeof import("./process/supervisor.ts");
    await loaded.runSupervisor(process.env);
  }
}

// No await here: the bundle with bytecode is CommonJS.
main().catch((error: Error) => {
  console.error(error.message);
  process.exit(isWorker ? cannotStartCode : 1);
});
