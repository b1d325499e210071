import type { Finder } from "./find-copy.ts";
import { HeldCopies } from "./held-copies.ts";
import { LastResort } from "./last-resort.ts";
import { Renewals } from "./renewals.ts";
import { readSettings } from "./settings.ts";
import { SharedCache } from "./shared-cache.ts";

/** Makes what the requests of one isolate share. Throws when a setting is missing or bad. */
export function openIsolate(env: Env): Finder {
  const settings = readSettings(env);
  const clock = () => Date.now() / 1000;
  const held = new HeldCopies(new SharedCache(settings.originUrl));
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
    report: (event) => console.error(JSON.stringify(event)),
  });
  return { held, renewals, clock };
}
