import { tokenMinute } from "@trendvault/contract/token";
import type { Generation } from "../database/generation.ts";
import type { GenerationWatch } from "../database/generation-watch.ts";
import type { Edition } from "./edition.ts";
import { Prebuild } from "./prebuild.ts";
import type { State } from "./state.ts";

const longestWait = 150; // milliseconds that a new generation waits for its answers to be made
const aheadOfMinute = 15_000; // milliseconds before a minute begins, its answers are made
const loadAfter = 20; // milliseconds: after a start, the first request comes before
const paceAhead = 5; // milliseconds between two of them: nobody waits for these

/**
 * Decides which edition is served. Before an edition begins, the answers that are asked for most are made for
 * it, a little at a time, so that it begins warm: a minute is known beforehand, a generation waits a moment.
 */
export class EditionKeeper {
  readonly #watch: GenerationWatch;
  readonly #state: State;
  #upcoming: { prebuild: Prebuild; deadline: number } | null = null;
  #trouble: string | null = null;

  constructor(watch: GenerationWatch, state: State) {
    this.#watch = watch;
    this.#state = state;
  }

  /** Looks at the database and the clock (milliseconds). To be called every 50 milliseconds or so. */
  tick(now: number): void {
    const generation = this.#watch.look(now);
    this.#noteTrouble();
    const { edition } = this.#state;
    if (generation === null) this.#state.edition = null;
    else if (edition === null) this.#begin({ generation, minute: tokenMinute(now) });
    else if (edition.generation !== generation) this.#approachGeneration(generation, now);
    else this.#approachMinute(edition, now);
  }

  #approachGeneration(generation: Generation, now: number): void {
    const edition = { generation, minute: tokenMinute(now) };
    if (this.#upcoming?.prebuild.edition.generation !== generation)
      this.#prepare(edition, now + longestWait, 0);
    if (this.#upcoming !== null && (this.#upcoming.prebuild.isDone || now >= this.#upcoming.deadline)) {
      this.#begin(this.#upcoming.prebuild.edition);
    }
  }

  #approachMinute({ generation, minute }: Edition, now: number): void {
    const current = { generation, minute: tokenMinute(now) };
    if (current.minute !== minute) {
      this.#begin(this.#preparedFor(current) ?? current);
    } else if (this.#upcoming === null && tokenMinute(now + aheadOfMinute) !== minute) {
      this.#prepare({ generation, minute: minute + 1 }, Number.POSITIVE_INFINITY, paceAhead);
    }
  }

  #preparedFor({ generation, minute }: Edition): Edition | null {
    const edition = this.#upcoming?.prebuild.edition;
    return edition?.generation === generation && edition.minute === minute ? edition : null;
  }

  #prepare(edition: Edition, deadline: number, pace: number): void {
    this.#upcoming?.prebuild.stop();
    const done = () => pace === 0 && this.#begin(edition);
    const prebuild = new Prebuild(edition, this.#state, { pace, done });
    this.#upcoming = { prebuild, deadline };
    prebuild.start();
  }

  #begin(edition: Edition): void {
    const prebuild = this.#upcoming?.prebuild;
    if (prebuild?.edition === edition) prebuild.putInPlace();
    else prebuild?.stop();
    this.#upcoming = null;
    if (this.#state.edition?.generation !== edition.generation) this.#load(edition.generation);
    this.#state.edition = edition;
  }

  #load(generation: Generation): void {
    const steps = this.#state.lists.load(generation);
    const step = () => {
      if (this.#state.edition?.generation === generation && !steps.next().done) setTimeout(step, 1);
    };
    setTimeout(step, loadAfter);
  }

  // After trouble everything is made anew: some answers may have fallen back on older content.
  #noteTrouble(): void {
    const { trouble } = this.#watch;
    if (trouble === this.#trouble) return;
    if (trouble === null) this.#state.log("info", "database readable again");
    else this.#state.log("warn", "serving the last good generation", { reason: trouble });
    this.#trouble = trouble;
    if (trouble === null && this.#state.edition !== null) this.#begin({ ...this.#state.edition });
  }
}
