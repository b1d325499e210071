import { cannotStartCode } from "./process/messages.ts";

const [, , role, ...words] = process.argv;

// Each kind of process loads what it needs and no more. It waits for the first turn, before which Bun collects garbage:
// there is little yet. `import` would take 0.6 ms more than `require`.
async function main(): Promise<void> {
  await new Promise(setImmediate);
  if (role === "inspector") {
    const inspector: typeof import("./database/inspector.ts") = require("./database/inspector.ts");
    inspector.runInspector(words[0] ?? "");
  } else {
    const worker: typeof import("./process/worker.ts") = require("./process/worker.ts");
    await worker.runWorker(process.env, words);
  }
}

// No await here: the bundle with bytecode is CommonJS.
main().catch((error: Error) => {
  console.error(error.message);
  process.exit(cannotStartCode);
});
