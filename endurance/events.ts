import type { Random } from "@trendvault/contract/test-support/random";
import type { Outages, Site } from "./outages.ts";
import type { PlannedEvent } from "./plan-events.ts";
import type { EnduranceSystem } from "./system.ts";

/** What happens to the system in a run; each is followed by its recovery. */
export const eventKinds = [
  "SIGHUP",
  "a worker is killed",
  "all workers are killed",
  "the inspector is killed",
  "the origin is killed",
  "the edge is killed",
  "the writer is killed",
  "the disk is full",
] as const;
type EventKind = (typeof eventKinds)[number];

/** What happened, and how long it took until all was well again; `failure` when it was not, in time. */
export type PastEvent = PlannedEvent<EventKind> & { recoverySeconds: number; failure: string | null };

type Deeds = Record<EventKind, () => Promise<unknown> | unknown>;
type Context = { system: EnduranceSystem; outages: Outages; random: Random };

const longestRunMs = 1500; // of the writer, on a quiet machine
const bytesLeft = 100_000;

/** What each kind does. It has ended when what it does to the system has; `becomeWell` waits for the rest. */
export function deedsOf({ system, outages, random }: Context): Deeds {
  const { origin, edge, writer, disk } = system;
  const tearing = (site: Site, kill: () => unknown) => async () => {
    const end = outages.begin(site, performance.now());
    await kill();
    await system.becomeWell();
    end(performance.now());
  };
  return {
    SIGHUP: () => origin.hangUp(),
    "a worker is killed": tearing("origin", () => origin.killWorker(random)),
    "all workers are killed": tearing("origin", () => origin.killWorkers()),
    "the inspector is killed": () => origin.killInspector(),
    "the origin is killed": tearing("origin", () => origin.killAndStart()),
    "the edge is killed": tearing("edge", async () => {
      await edge.kill();
      await edge.start();
    }),
    "the writer is killed": async () => {
      writer.killNext(random.below(longestRunMs));
      await writer.runOnce();
      await writer.runOnce();
    },
    "the disk is full": async () => {
      disk?.fillUpTo(random.below(bytesLeft));
      await writer.runOnce();
      disk?.empty();
      await writer.runOnce();
    },
  };
}
