import type { Finder } from "./find-copy.ts";
import { HeldCopies } from "./held-copies.ts";
import { LastResort } from "./last-resort.ts";
import { Renewals } from "./renewals.ts";
import type { Report } from "./report.ts";
import { readSettings } from "./settings.ts";
import { SharedCache } from "./shared-cache.ts";

/** Makes what the requests of one isolate share. Throws when a setting is missing or bad. */
export function openIsolate(env: Env): Finder {
  const settings = readSettings(env);
  const clock = () => Date.now() / 1000;
  const report: Report = (event) => console.error(JSON.stringify(event));
  const held = new HeldCopies(new SharedCache(settings.ORIGIN_URL), report);
  const renewals = new Renewals({
    held,
    lastResort: new LastResort(env.LAST_RESORT, {
      everySeconds: settings.LAST_RESORT_SECONDS,
      keys: settings.ORIGIN_JWKS,
    }),
    origin: {
      url: settings.ORIGIN_URL,
      edgeKeys: settings.EDGE_KEYS,
      deadlineSeconds: settings.ORIGIN_DEADLINE_SECONDS,
    },
    keys: settings.ORIGIN_JWKS,
    pauseSeconds: settings.ORIGIN_PAUSE_SECONDS,
    clock,
    report,
  });
  return { held, renewals, clock };
}
