import { loadavg } from "node:os";
import { windows } from "@trendvault/contract/lists";
import { until } from "@trendvault/kit/machine";
import { Random } from "@trendvault/kit/random";
import { visitorHeaders } from "../../tools/up/visitors.ts";
import { createVerifier } from "../../web/client/src/verify.ts";
import { drawClockStep, noticeMs, type Part } from "./clocks.ts";
import { Figures, judgeRun, Outages, type Sample, type Site, StaleServing, sumOf } from "./figures.ts";
import { observedRegions, startSystem } from "./system.ts";

type EnduranceSystem = Awaited<ReturnType<typeof startSystem>>;

const sampleSeconds = 5;
const interruptedCode = 130;

export type Options = {
  seconds: number;
  seed: number;
  writerSeconds: number;
  requestsPerSecond: number;
  movesClocks: boolean;
  /** How often the writer is killed, and nothing else is done; null for a run of the whole product. */
  kills: number | null;
};

/**
 * Runs the system for as long as the options say, and gives what is written to result.json. `report` is called with a
 * line now and then.
 */
export async function run(options: Options, report: (line: string) => void) {
  const before = loadavg()[0] ?? 0;
  const system = await startSystem(options.writerSeconds, options.movesClocks);
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
) {
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
    /** Load averages of a minute: before the run, and the mean of those during it, which the run itself causes a part of. */
    load: { before: loadBefore, mean: sumOf(loads) / loads.length },
    judgements: judgeRun({ samples, minutes, recoverySeconds, staleSeconds: staleServing.longestSeconds }),
    /** The first ones, as sentences. */
    failures: [
      ...figures.failures,
      ...events.flatMap(({ failure, kind }) => (failure === null ? [] : [`${kind}: ${failure}`])),
    ],
    writerExitCodes: system.writer.exitCodes,
    /** "ok", or what SQLite's integrity check finds. */
    database: system.checkDatabase(),
    hasFullDisk: system.disk !== null,
    /** Sentences: which clocks could not be moved, and why. */
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
    const step = drawClockStep(part, random);
    note(step.description, step.heldSeconds);
    const end = step.mayRefuse ? outages.begin("origin", performance.now(), "refused") : null;
    try {
      clocks?.[part].moveBy(step.seconds);
      await Bun.sleep(noticeMs);
      await writer.runOnce();
      await system.untilHealthy({ clocksDiffer: step.isAhead });
      await Bun.sleep(step.heldSeconds * 1000);
    } finally {
      clocks?.[part].moveBy(0);
      await Bun.sleep(noticeMs);
      end?.(performance.now());
    }
    if (part === "writer" && step.isAhead) await writer.repair(); // as operators do (docs/operations/run.md)
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
const quietSeconds = 120;
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

const timeoutMs = 60_000; // as browsers wait, and longer than any answer takes that comes at all
const verifiedShare = 20; // one answer of so many: a signature costs more than the rest
const edgeShare = 0.7; // of the requests

type ClientOptions = {
  urls: Record<Site | "empty", string>;
  requestsPerSecond: number;
  /** The fields that prove to the origin that a request comes from its edge. */
  edgeFields: () => Promise<Record<string, string>>;
  random: Random;
  outages: Outages;
  onOutcome: (outcome: Parameters<Figures["add"]>[0]) => void;
  /** Called with the generation of every whole list. */
  onList: (site: Site, generation: number) => void;
};

/**
 * Asks both sites at an even pace, whether earlier answers have come or not, and judges every answer. Visitors ask the
 * edge; the origin is asked for what an edge asks for when it has not stored it. Response times count from the moment
 * that a request was due.
 */
class Clients {
  readonly #options: ClientOptions;
  readonly #verify: ReturnType<typeof createVerifier>;
  readonly #open = new Set<Promise<void>>();
  readonly #startedAt = performance.now();
  #asked = 0;
  #isStopped = false;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#verify = createVerifier({ baseUrl: options.urls.edge });
  }

  /** Asks the edge for all that visitors will ask for, until it has it stored. @throws Error when it never has */
  async warm(): Promise<void> {
    for (const target of edgeTargets) await until(async () => (await this.#ask("edge", target)) === null);
  }

  /** Resolves when the last answer has come after `stop`. */
  async run(): Promise<void> {
    const pauseMs = 1000 / this.#options.requestsPerSecond;
    for (let due = performance.now(); !this.#isStopped; due += pauseMs) {
      const early = due - performance.now();
      if (early > 1) await Bun.sleep(early);
      const asked = this.#request(due).finally(() => this.#open.delete(asked));
      this.#open.add(asked);
    }
    await Promise.all(this.#open);
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #request(from: number): Promise<void> {
    const { random, outages, onOutcome } = this.#options;
    const site: Site = random.next() < edgeShare ? "edge" : "origin";
    const failure = await this.#ask(site, random.pick(site === "edge" ? edgeTargets : originTargets));
    const until = performance.now();
    const excuse = failure === null ? null : outages.excuseOf(site, { from, until, failure });
    onOutcome({ second: (from - this.#startedAt) / 1000, site, ms: until - from, failure, excuse });
  }

  /** Why an answer was not right, or null. */
  async #ask(site: Site, target: string): Promise<string | null> {
    const { urls, edgeFields, random } = this.#options;
    const url = urls[site] + target;
    try {
      const { "content-type": _, ...visitor } = visitorHeaders(() => random.next());
      const headers = site === "edge" ? visitor : await edgeFields();
      const answer = await fetch(url, { headers, keepalive: false, signal: AbortSignal.timeout(timeoutMs) });
      const body = new Uint8Array(await answer.arrayBuffer());
      if (site === "edge") void drain(`${urls.empty}/${body.length}`);
      const text = new TextDecoder().decode(body);
      if (answer.status !== 200) return `${target}: status ${answer.status}: ${text.slice(0, 200)}`;
      if (this.#asked++ % verifiedShare === 0)
        await this.#verify({ url, status: 200, headers: answer.headers, body });
      return target.startsWith("/api/trending") ? this.#judgeList(site, target, text) : null;
    } catch (error) {
      return `${target}: ${error}`;
    }
  }

  /** A page of a list has as many items as it says, and their ranks have no gaps. */
  #judgeList(site: Site, target: string, text: string): string | null {
    const { generation, count, items } = JSON.parse(text) as Page;
    const isWhole =
      items.length === count && count > 0 && items.every(({ rank }, index) => rank === index + 1);
    if (!isWhole) return `${target}: a torn list of generation ${generation}`;
    this.#options.onList(site, generation);
    return null;
  }
}

/** The empty Worker answers with as much as the edge did; when it is killed, nothing is lost. */
async function drain(url: string): Promise<void> {
  const answer = await fetch(url, { keepalive: false }).catch(() => null);
  await answer?.arrayBuffer().catch(() => {});
}

type Page = { generation: number; count: number; items: { rank: number }[] };

const lists = observedRegions.flatMap((region) =>
  windows.flatMap((window) =>
    ["", "&limit=7", "&limit=50", "&category=Music"].map(
      (rest) => `/api/trending?region=${region}&window=${window}${rest}`,
    ),
  ),
);

/** What visitors ask for: lists, pages for people, feeds, and what other programs read. */
const edgeTargets: readonly string[] = [
  ...lists,
  ...lists, // most requests are for lists
  ...observedRegions.flatMap((region) => [
    `/?region=${region}`,
    `/feeds/${region}.atom`,
    `/feeds/${region}.json`,
  ]),
  "/api/regions",
  "/openapi.json",
];

/** And what no edge has stored: every length of list, videos, and why they are where they are. */
const originTargets: readonly string[] = [
  ...edgeTargets,
  ...Array.from({ length: 50 }, (_, index) => `/api/trending?region=DE&limit=${index + 1}`),
  ...Array.from({ length: 30 }, (_, index) => `/api/videos/gb-${index}`),
  ...Array.from({ length: 30 }, (_, index) => `/api/videos/fr-${index}/explain?region=FR`),
];
