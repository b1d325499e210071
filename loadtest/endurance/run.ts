import { loadavg } from "node:os";
import { Random } from "@trendvault/kit/random";
import { Clients } from "./clients.ts";
import { describeStep, drawClockStep, mayRefuse, noticeMs, type Part } from "./clocks.ts";
import {
  Figures,
  type Judgement,
  judgeRun,
  type MinuteOfSite,
  Outages,
  type Sample,
  type Site,
  sumOf,
} from "./figures.ts";
import { type EnduranceSystem, startSystem } from "./system.ts";

const sampleSeconds = 5;
const interruptedCode = 130;

export type Options = {
  seconds: number;
  seed: number;
  writerSeconds: number;
  requestsPerSecond: number;
  publish: boolean;
  movesClocks: boolean;
  /** How often the writer is killed, and nothing else is done; null for a run of the whole product. */
  kills: number | null;
};

/** A run, as it is written to result.json. */
export type Result = {
  seed: number;
  seconds: number;
  requestsPerSecond: number;
  writerSeconds: number;
  /** Load averages of a minute: before the run, and the mean of those during it, which the run itself causes a part of. */
  load: { before: number; mean: number };
  judgements: Judgement[];
  /** The first failures, as sentences. */
  failures: string[];
  writerExitCodes: Record<string, number>;
  /** "ok", or what SQLite's integrity check finds. */
  database: string;
  hasFullDisk: boolean;
  /** Sentences: which clocks could not be moved, and why. */
  unmovedClocks: string[];
  events: PastEvent[];
  minutes: MinuteOfSite[];
  samples: Sample[];
};

/** Runs the system for as long as the options say. `report` is called with a line now and then. */
export async function run(options: Options, report: (line: string) => void): Promise<Result> {
  const before = loadavg()[0] ?? 0;
  const system = await startSystem(options);
  for (const signal of ["SIGINT", "SIGTERM"])
    process.once(signal, () => void system.stop().then(() => process.exit(interruptedCode)));
  try {
    return await endure(system, { options, report, loadBefore: before });
  } finally {
    await system.stop();
  }
}

async function endure(
  system: EnduranceSystem,
  { options, report, loadBefore }: { options: Options; report: (line: string) => void; loadBefore: number },
): Promise<Result> {
  const { seed, seconds, requestsPerSecond, writerSeconds } = options;
  const random = new Random(seed);
  const [outages, figures, staleServing] = [new Outages(), new Figures(), new StaleServing()];
  const [samples, loads, events]: [Sample[], number[], PastEvent[]] = [[], [], []];
  const clients = new Clients({
    urls: system.urls,
    requestsPerSecond,
    edgeFields: system.edgeFields,
    random: new Random(seed + 1),
    outages,
    onOutcome: (outcome) => figures.add(outcome),
    onList: (site, generation) => {
      if (site === "edge") staleServing.noteServed(generation, performance.now());
    },
  });
  await clients.warm();
  const startedAt = performance.now();
  const second = () => (performance.now() - startedAt) / 1000;
  const sleepUntil = async (due: number) => {
    if (due > second()) await Bun.sleep((due - second()) * 1000);
  };

  const write = async () => {
    for (let due = 0; due < seconds; due += writerSeconds) {
      await sleepUntil(due);
      await system.writer.runOnce();
    }
  };
  const measure = async () => {
    for (let due = 0; due <= seconds; due += sampleSeconds) {
      await sleepUntil(due);
      samples.push(system.sample(second()));
      loads.push(loadavg()[0] ?? 0);
      try {
        staleServing.noteNewest(system.newestGeneration(), performance.now());
      } catch {
        // the writer has locked the file for a moment: the next look sees it
      }
      if (due % 60 === 0) reportMinute(due / 60);
    }
  };
  const reportMinute = (minute: number) => {
    figures.close(second());
    const last = figures.minutes
      .slice(-2)
      .map(
        ({ site, requests, torn, failed, p99 }) =>
          `${site} ${requests} requests, ${torn} torn, ${failed} failed, p99 ${p99.toFixed(1)} ms`,
      );
    report(`minute ${minute}: ${last.join("; ")}; ${events.at(-1)?.kind ?? "no event yet"}`);
  };
  const causeEvents = async () => {
    const actions = actionsOf({ system, outages, random });
    for (const event of planEvents(seconds, { kinds: possibleEvents(system), random })) {
      await sleepUntil(event.second);
      if (second() > seconds - quietSeconds) break; // recoveries took longer than their minutes
      events.push({ ...event, ...(await cause(actions[event.kind], system)) });
    }
    await sleepUntil(seconds);
  };

  const asking = clients.run();
  await Promise.all([write(), measure(), causeEvents()]);
  clients.stop();
  await asking;
  await system.untilHealthy();
  figures.close();
  const { minutes } = figures;
  const recoverySeconds = events.map((event) => event.recoverySeconds);
  return {
    seed,
    seconds,
    requestsPerSecond,
    writerSeconds,
    load: { before: loadBefore, mean: sumOf(loads) / loads.length },
    judgements: judgeRun({ samples, minutes, recoverySeconds, staleSeconds: staleServing.longestSeconds }),
    failures: [
      ...figures.failures,
      ...events.flatMap(({ failure, kind }) => (failure === null ? [] : [`${kind}: ${failure}`])),
    ],
    writerExitCodes: system.writer.exitCodes,
    database: system.checkDatabase(),
    hasFullDisk: system.disk !== null,
    unmovedClocks: system.unmoved.sentences,
    events,
    minutes,
    samples,
  };
}

/** Lets something happen and waits for the recovery: how long that took, and why the system was not well in time. */
async function cause(
  action: Action,
  system: EnduranceSystem,
): Promise<Omit<PastEvent, keyof PlannedEvent<string>>> {
  const from = performance.now();
  let [said, held]: [{ detail?: string }, number] = [{}, 0];
  let failure: string | null = null;
  try {
    await action((detail, heldSeconds) => {
      [said, held] = [{ detail }, heldSeconds];
    });
    await system.untilHealthy();
  } catch (error) {
    failure = String(error);
  }
  return { recoverySeconds: (performance.now() - from) / 1000 - held, failure, ...said };
}

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
type PastEvent = PlannedEvent<EventKind> & {
  recoverySeconds: number;
  failure: string | null;
  detail?: string;
};

/** Called when there is more to say; `heldSeconds` is how long something is left so on purpose: no time of recovery. */
type Note = (detail: string, heldSeconds: number) => void;
type Action = (note: Note) => Promise<unknown> | unknown;
type Actions = Record<EventKind, Action>;
type Context = { system: EnduranceSystem; outages: Outages; random: Random };

const longestRunMs = 1500; // of the writer, on a quiet machine
const bytesLeft = 100_000;

/** What each kind does. It has ended when what it does to the system has; `untilHealthy` waits for the rest. */
function actionsOf({ system, outages, random }: Context): Actions {
  const { origin, edge, writer, disk, clocks } = system;
  const tearing = (site: Site, kill: () => unknown) => async () => {
    const end = outages.begin(site, performance.now());
    try {
      await kill();
      await system.untilHealthy();
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
      await system.untilHealthy();
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
function possibleEvents({ disk, unmoved }: EnduranceSystem): EventKind[] {
  const impossible = new Set<string>(unmoved.parts.map((part) => `the ${part}'s clock is moved`));
  if (disk === null) impossible.add("the disk is full");
  return eventKinds.filter((kind) => !impossible.has(kind));
}

/** Something that happens at a second of the run. */
type PlannedEvent<Kind extends string> = { second: number; kind: Kind };

/** Without events, at the beginning and at the end. */
export const quietSeconds = 120;
/** For what happens and the recovery from it. */
const slotSeconds = 60;

/** One event in each minute: every kind in some order, and then again in another one. */
export function planEvents<Kind extends string>(
  seconds: number,
  { kinds, random }: { kinds: readonly Kind[]; random: Random },
): PlannedEvent<Kind>[] {
  const events: PlannedEvent<Kind>[] = [];
  let deck: Kind[] = [];
  for (let slot = quietSeconds; slot + slotSeconds <= seconds - quietSeconds; slot += slotSeconds) {
    if (deck.length === 0) deck = [...kinds];
    const [kind] = deck.splice(random.below(deck.length), 1);
    if (kind !== undefined) events.push({ second: slot + random.below(slotSeconds / 3), kind });
  }
  return events;
}

/** How long a site goes on serving generations that are not the newest any more. Times are of `performance.now()`. */
export class StaleServing {
  readonly #endedAt = new Map<number, number>();
  #newest: number | null = null;
  #longestMs = 0;

  /** This is the newest generation of the database now. */
  noteNewest(generation: number, at: number): void {
    for (let past = this.#newest ?? generation; past < generation; past++) this.#endedAt.set(past, at);
    this.#newest = generation;
  }

  /** This generation was served. */
  noteServed(generation: number, at: number): void {
    this.#longestMs = Math.max(this.#longestMs, at - (this.#endedAt.get(generation) ?? at));
  }

  get longestSeconds(): number {
    return this.#longestMs / 1000;
  }
}
