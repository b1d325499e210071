import { regionCodes } from "@trendvault/contract/regions";
import { shardPattern } from "@trendvault/contract/views";
import type { Increments } from "../counting/increments.ts";
import type { PulledMinutes } from "../counting/minute-counts.ts";

/** What is called of a ViewCounter. */
export type Shard = {
  add: (increments: Increments) => Promise<number[]>;
  pull: (after: number | null, limit: number) => Promise<PulledMinutes>;
};
export type ShardNamespace = { getByName: (name: string) => Shard };

/** The Durable Objects that count: so many for each region. A call goes to one of them at random. */
export class ViewShards {
  readonly #namespace: ShardNamespace;
  readonly #shardsPerRegion: number;

  constructor(namespace: ShardNamespace, shardsPerRegion: number) {
    this.#namespace = namespace;
    this.#shardsPerRegion = shardsPerRegion;
  }

  /** Resolves when the increments are stored, to the positions of the looks that the shard had no room for. */
  async add(region: string, increments: Increments): Promise<number[]> {
    const shard = Math.floor(Math.random() * this.#shardsPerRegion);
    return this.#namespace.getByName(`${region}-${shard}`).add(increments);
  }

  /** A shard by its name, also one that nothing is added to any more. Null for a text that names none. */
  find(name: string): Shard | null {
    return shardPattern.test(name) ? this.#namespace.getByName(name) : null;
  }

  names(): string[] {
    return regionCodes.flatMap((region) =>
      Array.from({ length: this.#shardsPerRegion }, (_, shard) => `${region}-${shard}`),
    );
  }
}
