import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";

const tools = join(import.meta.dirname, "../../../.tools");

/** No request leaves this machine, whatever a page asks for. */
const onlyThisMachine = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE *.localhost";

let launched: Promise<Browser> | undefined;

/** The Chromium that bin/setup installed, started once for all tests of this process. */
export function browser(): Promise<Browser> {
  launched ??= chromium.launch({
    executablePath: join(tools, "bin/chromium"),
    args: [onlyThisMachine, "--font-render-hinting=none"],
    env: {
      ...(process.env as Record<string, string>),
      LD_LIBRARY_PATH: join(tools, "browser/lib"),
      FONTCONFIG_FILE: join(tools, "browser/fonts.conf"),
      XDG_CACHE_HOME: join(tools, "browser/cache"), // what fonts.conf keeps its cache below
    },
  });
  return launched;
}

export async function closeBrowser(): Promise<void> {
  await (await launched)?.close();
  launched = undefined;
}
