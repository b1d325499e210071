import type { RequestContext } from "../cache/revalidator.ts";
import { nullAfter } from "../cache/single-flight.ts";
import { addRanks, type BlockIncrement } from "../counting/increments.ts";
import type { Logger } from "../log/logger.ts";
import { isStillAhead } from "../rules/still-ahead.ts";
import type { ViewShards } from "./view-shards.ts";

type Batch = {
  messages: number;
  blocks: Map<string, BlockIncrement>;
  /** Keys of the blocks that are stored; null when the shard failed. */
  stored: Promise<ReadonlySet<string> | null>;
  endsAt: number;
};
type Options = { shards: Pick<ViewShards, "add">; batchSeconds: number; log: Logger };

const mostMessages = 1000;
const addSeconds = 5;

/**
 * Sums the messages of this isolate up, by region, and adds the sums to a shard in one call. A call costs a hundred times
 * as much as what one message adds to it.
 */
export class IncrementBatches {
  readonly #open = new Map<string, Batch>();
  readonly #options: Options;

  /** A message waits for at most `batchSeconds` before it is added. */
  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Whether the counts are stored. False when the shard had no room for them, and when it failed or took too long; then
   * they may be stored or not.
   */
  async add(
    region: string,
    blocks: readonly BlockIncrement[],
    context: Pick<RequestContext, "waitUntil">,
  ): Promise<boolean> {
    const batch = this.#openBatch(region, context);
    batch.messages++;
    const keys = blocks.map((block) =>
      JSON.stringify([block.window, block.category, block.generation, block.block]),
    );
    for (const [index, block] of blocks.entries()) {
      const key = keys[index] as string;
      const known = batch.blocks.get(key);
      batch.blocks.set(
        key,
        known === undefined ? block : { ...block, ranks: addRanks(known.ranks, block.ranks) },
      );
    }
    const stored = await nullAfter(batch.endsAt, batch.stored);
    return stored !== null && keys.every((key) => stored.has(key));
  }

  #openBatch(region: string, context: Pick<RequestContext, "waitUntil">): Batch {
    const open = this.#open.get(region);
    const [now, longest] = [Date.now(), (this.#options.batchSeconds + addSeconds) * 1000];
    const isOpen = open !== undefined && isStillAhead(open.endsAt, { now, longest });
    if (isOpen && open.messages < mostMessages) return open;
    const blocks = new Map<string, BlockIncrement>();
    const endsAt = now + longest;
    const batch: Batch = { messages: 0, blocks, stored: Promise.resolve(null), endsAt };
    batch.stored = this.#store(region, batch);
    this.#open.set(region, batch);
    context.waitUntil(batch.stored); // also when the client that began the batch goes away
    return batch;
  }

  async #store(region: string, batch: Batch): Promise<ReadonlySet<string> | null> {
    const { shards, batchSeconds, log } = this.#options;
    await new Promise((resume) => setTimeout(resume, batchSeconds * 1000));
    if (this.#open.get(region) === batch) this.#open.delete(region);
    try {
      const refused = new Set(await shards.add(region, { looks: [...batch.blocks.values()], served: [] }));
      if (refused.size > 0) this.#logFull(region, refused.size);
      return new Set([...batch.blocks.keys()].filter((_, position) => !refused.has(position)));
    } catch (error) {
      const message = "A shard did not take the counts of some messages.";
      log({
        level: "error",
        event: "views_not_counted",
        message,
        messages: batch.messages,
        error: String(error),
      });
      return null;
    }
  }

  #logFull(region: string, rows: number): void {
    const message = "A shard has no room for more rows in this minute; what needed one was not counted.";
    this.#options.log({ level: "error", event: "views_not_counted", message, region, rows });
  }
}
