import { loadavg } from "node:os";
import { Random } from "@trendvault/contract/test-support/random";
import { Clients } from "./clients.ts";
import { type Deed, deedsOf, type PastEvent, possibleEvents } from "./events.ts";
import { Figures } from "./figures.ts";
import { judgeRun } from "./judge-run.ts";
import type { Options } from "./options.ts";
import { Outages } from "./outages.ts";
import { type PlannedEvent, planEvents, quietSeconds } from "./plan-events.ts";
import type { Result } from "./result.ts";
import type { Sample } from "./samples.ts";
import { Superseded } from "./superseded.ts";
import { EnduranceSystem } from "./system.ts";

const sampleSeconds = 5;
const interruptedCode = 130;

/** Runs the system for as long as the options say. `report` is called with a line now and then. */
export async function run(options: Options, report: (line: string) => void): Promise<Result> {
  const load = loadavg()[0] ?? 0;
  const system = await EnduranceSystem.start(options);
  for (const signal of ["SIGINT", "SIGTERM"])
    process.once(signal, () => void system.stop().then(() => process.exit(interruptedCode)));
  try {
    return await new Run(system, { options, report }).finish(load);
  } finally {
    await system.stop();
  }
}

class Run {
  readonly #system: EnduranceSystem;
  readonly #options: Options;
  readonly #report: (line: string) => void;
  readonly #random: Random;
  readonly #outages = new Outages();
  readonly #figures = new Figures();
  readonly #samples: Sample[] = [];
  readonly #loads: number[] = [];
  readonly #events: PastEvent[] = [];
  readonly #superseded = new Superseded();
  #startedAt = 0;

  constructor(
    system: EnduranceSystem,
    { options, report }: { options: Options; report: (line: string) => void },
  ) {
    this.#system = system;
    this.#options = options;
    this.#report = report;
    this.#random = new Random(options.seed);
  }

  async finish(loadBefore: number): Promise<Result> {
    const { seed, seconds, requestsPerSecond, writerSeconds } = this.#options;
    const clients = new Clients({
      urls: this.#system.urls,
      requestsPerSecond,
      edgeFields: this.#system.edgeFields,
      random: new Random(seed + 1),
      outages: this.#outages,
      onOutcome: (outcome) => this.#figures.add(outcome),
      onList: (site, generation) => {
        if (site === "edge") this.#superseded.noteServed(generation, performance.now());
      },
    });
    await clients.warm();
    this.#startedAt = performance.now();
    const asking = clients.run();
    await Promise.all([this.#write(), this.#sample(), this.#happen()]);
    clients.stop();
    await asking;
    await this.#system.becomeWell();
    this.#figures.close();
    const { samples, minutes, events } = {
      samples: this.#samples,
      minutes: this.#figures.minutes,
      events: this.#events,
    };
    const measured = {
      samples,
      minutes,
      recoverySeconds: events.map(({ recoverySeconds }) => recoverySeconds),
      supersededSeconds: this.#superseded.longestSeconds,
    };
    const busy = {
      before: loadBefore,
      mean: this.#loads.reduce((sum, one) => sum + one, 0) / this.#loads.length,
    };
    return {
      seed,
      seconds,
      requestsPerSecond,
      writerSeconds,
      load: busy,
      judgements: judgeRun(measured),
      failures: [
        ...this.#figures.failures,
        ...events.flatMap(({ failure, kind }) => (failure === null ? [] : [`${kind}: ${failure}`])),
      ],
      writerExitCodes: this.#system.writer.exitCodes,
      database: this.#system.checkDatabase(),
      hasFullDisk: this.#system.disk !== null,
      unmovedClocks: this.#system.unmoved.sentences,
      events,
      minutes,
      samples,
    };
  }

  get #second(): number {
    return (performance.now() - this.#startedAt) / 1000;
  }

  async #write(): Promise<void> {
    for (let due = 0; due < this.#options.seconds; due += this.#options.writerSeconds) {
      await this.#sleepUntil(due);
      await this.#system.writer.runOnce();
    }
  }

  async #sample(): Promise<void> {
    for (let due = 0; due <= this.#options.seconds; due += sampleSeconds) {
      await this.#sleepUntil(due);
      this.#samples.push(this.#system.sample(this.#second));
      this.#noteNewest();
      this.#loads.push(loadavg()[0] ?? 0);
      if (due % 60 === 0) this.#tell(due / 60);
    }
  }

  #noteNewest(): void {
    try {
      this.#superseded.noteNewest(this.#system.newestGeneration(), performance.now());
    } catch {
      // the writer has locked the file for a moment: the next look sees it
    }
  }

  #tell(minute: number): void {
    this.#figures.close(this.#second);
    const last = this.#figures.minutes
      .slice(-2)
      .map(
        ({ site, requests, torn, failed, p99 }) =>
          `${site} ${requests} requests, ${torn} torn, ${failed} failed, p99 ${p99.toFixed(1)} ms`,
      );
    this.#report(`minute ${minute}: ${last.join("; ")}; ${this.#events.at(-1)?.kind ?? "no event yet"}`);
  }

  async #happen(): Promise<void> {
    const deeds = deedsOf({ system: this.#system, outages: this.#outages, random: this.#random });
    const kinds = possibleEvents(this.#system);
    for (const event of planEvents(this.#options.seconds, { kinds, random: this.#random })) {
      await this.#sleepUntil(event.second);
      if (this.#second > this.#options.seconds - quietSeconds) break; // recoveries took longer than their minutes
      this.#events.push({ ...event, ...(await this.#do(deeds[event.kind])) });
    }
    await this.#sleepUntil(this.#options.seconds);
  }

  async #do(deed: Deed): Promise<Omit<PastEvent, keyof PlannedEvent<string>>> {
    const from = performance.now();
    let [said, held]: [{ detail?: string }, number] = [{}, 0];
    const note = (detail: string, heldSeconds: number) => {
      [said, held] = [{ detail }, heldSeconds];
    };
    const failure = await becomesWell(() => deed(note), this.#system);
    return { recoverySeconds: (performance.now() - from) / 1000 - held, failure, ...said };
  }

  async #sleepUntil(second: number): Promise<void> {
    const left = second - this.#second;
    if (left > 0) await Bun.sleep(left * 1000);
  }
}

/** Why the system was not well again in time, or null. */
async function becomesWell(
  deed: () => Promise<unknown> | unknown,
  system: EnduranceSystem,
): Promise<string | null> {
  try {
    await deed();
    await system.becomeWell();
    return null;
  } catch (error) {
    return String(error);
  }
}
