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
  const held = new HeldCopies(new SharedCache(settings.originUrl), report);
  const renewals = new Renewals({
    held,
    lastResort: new LastResort(env.LAST_RESORT, settings.lastResortSeconds),
    origin: {
      url: settings.originUrl,
      edgeKeys: settings.edgeKeys,
      deadlineSeconds: settings.originDeadlineSeconds,
    },
    keys: settings.originKeys,
    pauseSeconds: settings.originPauseSeconds,
    clock,
    report,
  });
  return { held, renewals, clock };
}
