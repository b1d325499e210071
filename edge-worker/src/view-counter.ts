import { DurableObject } from "cloudflare:workers";
import { type Increments, MinuteCounts, type PulledMinutes } from "./minute-counts.ts";
import { SenderCells } from "./sender-cells.ts";

const hour = 3_600_000;
const clock = () => Date.now() / 1000;

/** A shard: the Durable Object that counts for a region, or for a share of its messages. It is called by RPC only. */
export class ViewCounter extends DurableObject {
  readonly #counts = new MinuteCounts(this.ctx.storage.sql, clock);
  readonly #cells = new SenderCells(clock);
  #hasAlarm = false;

  /**
   * Returns when the increments are stored: the runtime holds the answer back until they are. Gives the positions of the
   * `looks` that there was no room for.
   */
  async add(increments: Increments): Promise<number[]> {
    const judged = await this.#cells.judge(increments);
    const refused = this.ctx.storage.transactionSync(() => this.#counts.add(judged));
    if (this.#hasAlarm) return refused;
    if ((await this.ctx.storage.getAlarm()) === null) await this.ctx.storage.setAlarm(Date.now() + hour);
    this.#hasAlarm = true;
    return refused;
  }

  /** `after` is a minute, or null for the oldest that is kept. */
  pull(after: number | null, limit: number): PulledMinutes {
    return this.ctx.storage.transactionSync(() => this.#counts.pull(after, limit));
  }

  override async alarm(): Promise<void> {
    this.#cells.renew();
    const left = this.ctx.storage.transactionSync(() => this.#counts.deleteOld());
    this.#hasAlarm = left !== "nothing";
    if (this.#hasAlarm) await this.ctx.storage.setAlarm(Date.now() + (left === "old" ? 1000 : hour));
  }
}
