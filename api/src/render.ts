import { writeSync } from "node:fs";
import { runRender } from "./bundle/run-render.ts";

// No await here: the bundle with bytecode is CommonJS.
runRender(process.argv.slice(2), process.env, {
  line: (text) => writeSync(1, `${text}\n`),
  progress: (text) => writeSync(2, `${text}\n`),
}).then((code) => process.exit(code));
