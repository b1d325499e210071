import { cannotStartCode } from "./process/messages.ts";

const [, , role, argument = ""] = process.argv;
const isWorker = role === "worker";
const sharedPort = argument === "" ? null : Number(argument);

// Each kind of process loads what it needs and no more, and by `require`: `import()` takes a millisecond more for each.
async function main(): Promise<void> {
  if (isWorker) {
    const worker = require("./process/worker.ts") as typeof import("./process/worker.ts");
    await worker.runWorker(process.env, sharedPort);
  } else if (role === "inspector") {
    const inspector = require("./database/inspector.ts") as typeof import("./database/inspector.ts");
    inspector.runInspector(argument);
  } else {
    const supervisor = require("./process/supervisor.ts") as typeof import("./process/supervisor.ts");
    await supervisor.runSupervisor(process.env);
  }
}

// No await here: the bundle with bytecode is CommonJS.
main().catch((error: Error) => {
  console.error(error.message);
  process.exit(isWorker ? cannotStartCode : 1);
});
