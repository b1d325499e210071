import { choiceOf, listName } from "@trendvault/contract/lists";
import { readCursor, type TrendingQuery } from "@trendvault/contract/queries";
import { regionCodes } from "@trendvault/contract/regions";
import { shardPattern, type ViewCounts } from "@trendvault/contract/views";
import { listInTokens } from "./document-signer.ts";
import type { Logger } from "./log.ts";
import { addRanks, type BlockIncrement, type Increments, type PulledMinutes } from "./minute-counts.ts";
import type { CanonicalRequest } from "./policy.ts";
import type { RequestContext } from "./read-through.ts";
import { isBeforeDeadline, nullAfter } from "./single-flight.ts";

type Senders = Required<Increments>["senders"];
type Batch = {
  messages: number;
  looks: BlockIncrement[];
  /** Of the blocks in `looks`, by key. */
  positions: Map<string, number>;
  senders: Senders;
  /** Positions that are not stored; null when the shard failed. */
  refused: Promise<ReadonlySet<number> | null>;
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
   * Whether the counts of a message are stored. False when the shard had no room for them, and when it failed or took too
   * long; then they may be stored or not. `network`: the sender's, or nothing.
   */
  async add(
    region: string,
    { counts, blocks }: { counts: ViewCounts; blocks: readonly BlockIncrement[] },
    context: Pick<RequestContext, "waitUntil"> & { network: string },
  ): Promise<boolean> {
    const batch = this.#openBatch(region, context);
    batch.messages++;
    const positions = blocks.map((block) => addBlock(batch, block));
    if (context.network) batch.senders.push({ network: context.network, positions, ...counts });
    const refused = await nullAfter(batch.endsAt, batch.refused);
    return refused !== null && !positions.some((position) => refused.has(position));
  }

  #openBatch(region: string, context: Pick<RequestContext, "waitUntil">): Batch {
    const open = this.#open.get(region);
    const [now, longest] = [Date.now(), (this.#options.batchSeconds + addSeconds) * 1000];
    const isOpen = open !== undefined && isBeforeDeadline(open.endsAt, { now, longest });
    if (isOpen && open.messages < mostMessages) return open;
    const batch: Batch = {
      messages: 0,
      looks: [],
      positions: new Map(),
      senders: [],
      refused: Promise.resolve(null),
      endsAt: now + longest,
    };
    batch.refused = this.#store(region, batch);
    this.#open.set(region, batch);
    context.waitUntil(batch.refused); // also when the client that began the batch goes away
    return batch;
  }

  async #store(region: string, batch: Batch): Promise<ReadonlySet<number> | null> {
    const { shards, batchSeconds, log } = this.#options;
    await new Promise((resume) => setTimeout(resume, batchSeconds * 1000));
    if (this.#open.get(region) === batch) this.#open.delete(region);
    try {
      const { looks, senders } = batch;
      const refused = new Set(await shards.add(region, { looks, served: [], senders }));
      if (refused.size > 0) this.#logFull(region, refused.size);
      return refused;
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
    const message = "A shard has no room for more rows of a minute.";
    this.#options.log({ level: "error", event: "views_not_counted", message, region, rows });
  }
}

/** Adds to the block of the same ranks in the batch. Gives its position. */
function addBlock({ looks, positions }: Batch, block: BlockIncrement): number {
  const key = JSON.stringify([block.window, block.category, block.generation, block.block]);
  const position = positions.get(key) ?? looks.length;
  const known = looks[position];
  looks[position] = known === undefined ? block : { ...block, ranks: addRanks(known.ranks, block.ranks) };
  positions.set(key, position);
  return position;
}

/** How often a canonical target was served. */
type ServedTarget = { target: string; query: TrendingQuery; lists: number };
type ServedOptions = { shards: Pick<ViewShards, "add">; flushSeconds: number; log: Logger };

const mostTargets = 1000; // when one client asks for so many pages, the others are counted all the same

/**
 * Counts the lists that this isolate serves, by page, and adds them to the shards from time to time: an isolate that
 * ends meanwhile loses what it has counted since. They are only a ceiling of what is believed.
 */
export class ServedLists {
  readonly #options: ServedOptions;
  #byTarget = new Map<string, ServedTarget>();
  #flushAt = 0;

  constructor(options: ServedOptions) {
    this.#options = options;
  }

  /** Counts a list that is served at `now` (Unix seconds). */
  count({ target, query }: CanonicalRequest, now: number, context: Pick<RequestContext, "waitUntil">): void {
    if (query === null) return;
    this.#add({ target, query, lists: 1 });
    if (this.#byTarget.size >= mostTargets) context.waitUntil(this.#send());
    if (isBeforeDeadline(this.#flushAt, { now, longest: this.#options.flushSeconds })) return;
    this.#flushAt = now + this.#options.flushSeconds;
    context.waitUntil(this.#flush());
  }

  #add({ target, query, lists }: ServedTarget): void {
    const known = this.#byTarget.get(target);
    if (known === undefined) this.#byTarget.set(target, { target, query, lists });
    else known.lists += lists;
  }

  async #flush(): Promise<void> {
    await new Promise((resume) => setTimeout(resume, this.#options.flushSeconds * 1000));
    await this.#send();
  }

  async #send(): Promise<void> {
    const counted = [...this.#byTarget.values()];
    this.#byTarget = new Map();
    const byRegion = Map.groupBy(counted, ({ query }) => query.region);
    await Promise.all([...byRegion].map(([region, served]) => this.#store(region, served)));
  }

  /** What a shard did not take is for the next time, while few others wait. */
  async #store(region: string, counted: ServedTarget[]): Promise<void> {
    const byList = Map.groupBy(counted, ({ query }) => JSON.stringify([query.window, listName(query)]));
    const increments = [...byList].map(async ([list, pages]): Promise<Increments["served"][number]> => {
      const [window, name] = JSON.parse(list) as [string, string];
      const counts = pages.map(({ query, lists }) => pageOf(query, lists));
      return { window, category: await listInTokens(choiceOf(name)), pages: counts };
    });
    try {
      const served = await Promise.all(increments);
      await this.#options.shards.add(region, { looks: [], served });
    } catch (error) {
      if (this.#byTarget.size + counted.length < mostTargets) for (const one of counted) this.#add(one);
      const message = "A shard did not take how many lists were served.";
      this.#options.log({ level: "error", event: "lists_not_counted", message, error: String(error) });
    }
  }
}

function pageOf(
  { cursor, limit }: TrendingQuery,
  lists: number,
): Increments["served"][number]["pages"][number] {
  return [cursor === undefined ? 0 : readCursor(cursor).afterRank, limit, lists];
}

/** What is called of a ViewCounter. */
type Shard = {
  add: (increments: Increments) => Promise<number[]>;
  pull: (after: number | null, limit: number) => Promise<PulledMinutes>;
};
type ShardNamespace = { getByName: (name: string) => Shard };

/** The Durable Objects that count: so many for each region. A call goes to one of them at random. */
export class ViewShards {
  readonly #namespace: ShardNamespace;
  readonly #shardsPerRegion: number;

  constructor(namespace: ShardNamespace, shardsPerRegion: number) {
    this.#namespace = namespace;
    this.#shardsPerRegion = shardsPerRegion;
  }

  /** Resolves when the increments are stored, to the positions of the `looks` that the shard had no room for. */
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
