import { writeSync } from "node:fs";
import { runRender } from "./bundle/run-render.ts";

// No await here: the bundle with bytecode is CommonJS.
runRender(process.argv.slice(2), {
  program: { words: [process.execPath, ...process.execArgv, Bun.main], env: process.env },
  output: {
    line: (text) => writeSync(1, `${text}\n`),
    progress: (text) => writeSync(2, `${text}\n`),
    bytes: (bytes) => {
      for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at);
    },
  },
}).then((code) => process.exit(code));
