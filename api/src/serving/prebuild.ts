import { DatabaseUnreadable } from "../database/fault.ts";
import { Refusal } from "../http/refusal.ts";
import type { Edition } from "./edition.ts";
import { codingsOf, type Slot } from "./slot.ts";
import type { State } from "./state.ts";

const atOnce = 2; // signing waits for a turn of the event loop, so that two slots take one
const most = 512; // slots; the rest are made when they are asked for

/** Makes the answers of an edition before it begins: the most asked first, one a turn of the event loop. */
export class Prebuild {
  readonly edition: Edition;
  readonly #state: State;
  readonly #slots: Slot[];
  readonly #pace: number;
  readonly #done: () => void;
  #next = 0;
  #stopped = false;

  /** `pace` is in milliseconds between two answers; 0 waits only for the sockets to be looked at. */
  constructor(edition: Edition, state: State, { pace, done }: { pace: number; done: () => void }) {
    this.edition = edition;
    this.#state = state;
    this.#pace = pace;
    this.#done = done;
    this.#slots = [...state.slots.values()]
      .filter((slot) => slot.hits > 0)
      .sort((left, right) => right.hits - left.hits)
      .slice(0, most);
  }

  start(): void {
    this.#continue();
  }

  get isDone(): boolean {
    return this.#next >= this.#slots.length;
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Lets the slots serve what was made. To be called as the edition begins. */
  putInPlace(): void {
    this.stop();
    for (const slot of this.#slots) {
      if (slot.upcoming.edition === this.edition) slot.current = slot.upcoming;
      slot.forgetUpcoming();
    }
    for (const slot of this.#state.slots.values()) slot.hits >>= 1;
  }

  #continue(): void {
    if (this.#stopped) return;
    if (this.isDone) this.#done();
    else if (this.#pace === 0) setImmediate(() => this.#step());
    else setTimeout(() => this.#step(), this.#pace);
  }

  async #step(): Promise<void> {
    const slots = this.#slots.slice(this.#next, this.#next + atOnce);
    if (this.#stopped) return;
    try {
      await Promise.all(slots.map((slot) => this.#make(slot)));
    } catch (error) {
      this.#giveUp(error);
      return;
    }
    this.#next += slots.length;
    this.#continue();
  }

  // The edition begins without what is missing; it is made when it is asked for.
  #giveUp(error: unknown): void {
    if (error instanceof DatabaseUnreadable) return; // EditionKeeper reports that
    this.#state.log("error", "cannot make answers ahead", { error: String(error) });
  }

  async #make(slot: Slot): Promise<void> {
    const build = await this.#state.builder.build(slot, this.edition, codingsOf(slot.current));
    if (!(build instanceof Refusal)) slot.upcoming = build; // else whoever asks for it will be told
  }
}
