import { choiceOf, listName } from "@trendvault/contract/lists";
import { readCursor, type TrendingQuery } from "@trendvault/contract/queries";
import type { RequestContext } from "../cache/revalidator.ts";
import type { ServedIncrement, ServedPage } from "../counting/increments.ts";
import type { Logger } from "../log/logger.ts";
import type { CanonicalRequest } from "../rules/canonical-request.ts";
import { listInTokens } from "../rules/list-in-tokens.ts";
import { isStillAhead } from "../rules/still-ahead.ts";
import type { ViewShards } from "./view-shards.ts";

type Options = { shards: Pick<ViewShards, "add">; flushSeconds: number; log: Logger };

const mostTargets = 1000; // when one client asks for so many pages, the others are counted all the same

/**
 * Counts the lists that this isolate serves, by page, and adds them to the shards from time to time: an isolate that
 * ends meanwhile loses what it has counted since. They are only a ceiling of what is believed.
 */
export class ServedLists {
  readonly #options: Options;
  #byTarget = new Map<string, { query: TrendingQuery; lists: number }>();
  #flushAt = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Counts a list that is served at `now` (Unix seconds). */
  count({ target, query }: CanonicalRequest, now: number, context: Pick<RequestContext, "waitUntil">): void {
    if (query === null) return;
    const known = this.#byTarget.get(target);
    if (known !== undefined) known.lists++;
    else this.#byTarget.set(target, { query, lists: 1 });
    if (this.#byTarget.size >= mostTargets) context.waitUntil(this.#send());
    if (isStillAhead(this.#flushAt, { now, longest: this.#options.flushSeconds })) return;
    this.#flushAt = now + this.#options.flushSeconds;
    context.waitUntil(this.#flush());
  }

  async #flush(): Promise<void> {
    await new Promise((resume) => setTimeout(resume, this.#options.flushSeconds * 1000));
    await this.#send();
  }

  async #send(): Promise<void> {
    const counted = [...this.#byTarget.values()];
    this.#byTarget = new Map();
    const byRegion = Map.groupBy(counted, ({ query }) => query.region);
    await Promise.all([...byRegion].map(([region, served]) => this.#add(region, served)));
  }

  async #add(region: string, counted: { query: TrendingQuery; lists: number }[]): Promise<void> {
    const byList = Map.groupBy(counted, ({ query }) => JSON.stringify([query.window, listName(query)]));
    const increments = [...byList].map(async ([list, pages]): Promise<ServedIncrement> => {
      const [window, name] = JSON.parse(list) as [string, string];
      const counts = pages.map(({ query, lists }) => pageOf(query, lists));
      return { window, category: await listInTokens(choiceOf(name)), pages: counts };
    });
    try {
      const served = await Promise.all(increments);
      await this.#options.shards.add(region, { looks: [], served });
    } catch (error) {
      const message = "A shard did not take how many lists were served.";
      this.#options.log({ level: "error", event: "lists_not_counted", message, error: String(error) });
    }
  }
}

function pageOf({ cursor, limit }: TrendingQuery, lists: number): ServedPage {
  return [cursor === undefined ? 0 : readCursor(cursor).afterRank, limit, lists];
}
