import type { Random } from "@trendvault/contract/test-support/random";
import { describeStep, drawClockStep, mayRefuse } from "./clock-steps.ts";
import { noticeMs, type Part } from "./clocks.ts";
import type { Outages, Site } from "./outages.ts";
import type { PlannedEvent } from "./plan-events.ts";
import type { EnduranceSystem } from "./system.ts";

/** What happens to the system in a run; each is followed by its recovery. */
const eventKinds = [
  "SIGHUP",
  "a worker is killed",
  "all workers are killed",
  "the inspector is killed",
  "the origin is killed",
  "the edge is killed",
  "the writer is killed",
  "the disk is full",
  "the writer's clock is moved",
  "the origin's clock is moved",
  "the edge's clock is moved",
] as const;
type EventKind = (typeof eventKinds)[number];

/** What happened, and how long it took until all was well again; `failure` when it was not, in time. */
export type PastEvent = PlannedEvent<EventKind> & {
  recoverySeconds: number;
  failure: string | null;
  detail?: string;
};

/** Called when there is more to say; `heldSeconds` is how long something is left so on purpose: no time of recovery. */
type Note = (detail: string, heldSeconds: number) => void;
export type Deed = (note: Note) => Promise<unknown> | unknown;
type Deeds = Record<EventKind, Deed>;
type Context = { system: EnduranceSystem; outages: Outages; random: Random };

const longestRunMs = 1500; // of the writer, on a quiet machine
const bytesLeft = 100_000;

/** What each kind does. It has ended when what it does to the system has; `becomeWell` waits for the rest. */
export function deedsOf({ system, outages, random }: Context): Deeds {
  const { origin, edge, writer, disk, clocks } = system;
  const tearing = (site: Site, kill: () => unknown) => async () => {
    const end = outages.begin(site, performance.now());
    try {
      await kill();
      await system.becomeWell();
    } finally {
      end(performance.now()); // it excuses nothing for longer, also when the site is not well again
    }
  };
  const moving = (part: Part) => async (note: Note) => {
    const step = drawClockStep(random);
    note(describeStep(step), step.heldSeconds);
    const end = mayRefuse(part, step) ? outages.begin("origin", performance.now(), "refused") : null;
    try {
      clocks?.[part].moveBy(step.seconds);
      await Bun.sleep(noticeMs);
      await writer.runOnce();
      await system.becomeWell();
      await Bun.sleep(step.heldSeconds * 1000);
    } finally {
      clocks?.[part].moveBy(0);
      await Bun.sleep(noticeMs);
      end?.(performance.now());
    }
    await writer.runOnce();
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
      await disk?.fillUpTo(random.below(bytesLeft));
      await writer.runOnce();
      disk?.empty();
      await writer.runOnce();
    },
    "the writer's clock is moved": moving("writer"),
    "the origin's clock is moved": moving("origin"),
    "the edge's clock is moved": moving("edge"),
  };
}

/** What can happen to a system: no full disk where it has none of its own, and no clock is moved that cannot be. */
export function possibleEvents({ disk, unmoved }: EnduranceSystem): EventKind[] {
  const impossible = new Set<string>(unmoved.parts.map((part) => `the ${part}'s clock is moved`));
  if (disk === null) impossible.add("the disk is full");
  return eventKinds.filter((kind) => !impossible.has(kind));
}
