import { cannotStartCode } from "./process/messages.ts";

const [, , role, argument = ""] = process.argv;
const isWorker = role === "worker";
const sharedPort = argument === "" ? null : Number(argument);

// Each kind of process loads what it needs and no more: with all of them loaded, a start takes a fifth longer. It waits for
// the first turn, before which Bun collects garbage: there is little yet. `import` would take 0.6 ms more than `require`.
async function main(): Promise<void> {
  await new Promise(setImmediate);
  if (isWorker) {
    const worker: typeof import("./process/worker.ts") = require("./process/worker.ts");
    await worker.runWorker(process.env, sharedPort);
  } else if (role === "inspector") {
    const inspector: typeof import("./database/inspector.ts") = require("./database/inspector.ts");
    inspector.runInspector(argument);
  } else {
    const supervisor: typeof import("./process/supervisor.ts") = require("./process/supervisor.ts");
    await supervisor.runSupervisor(process.env);
  }
}

// No await here: the bundle with bytecode is CommonJS.
main().catch((error: Error) => {
  console.error(error.message);
  process.exit(isWorker ? cannotStartCode : 1);
});
