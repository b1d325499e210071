import { FollowFailure } from "./failure.ts";
import { follow } from "./follow.ts";
import { writeLog } from "./log.ts";
import { parseOptions } from "./options.ts";
import { readSettings, type Settings } from "./settings.ts";

const stop = new AbortController();
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, () => stop.abort());

// No await here: the bundle with bytecode is CommonJS.
run(readSettingsOrExit()).then((code) => process.exit(code));

function readSettingsOrExit(): Settings {
  try {
    return readSettings(parseOptions(process.argv.slice(2)), process.env);
  } catch (error) {
    console.error(`bin/follow: ${(error as Error).message}\nSee bin/follow --help.`);
    return process.exit(2);
  }
}

async function run(settings: Settings): Promise<number> {
  try {
    return await follow(settings, { log: writeLog, signal: stop.signal });
  } catch (error) {
    if (!(error instanceof FollowFailure)) throw error;
    writeLog("error", "not_started", error.message, { reason: error.reason });
    return error.reason === "held" ? 3 : 5;
  }
}
