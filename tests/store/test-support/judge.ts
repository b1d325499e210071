import type { PublicKeySet } from "@trendvault/contract/keys";
import { windows } from "@trendvault/contract/lists";
import type { TrendingPage } from "@trendvault/contract/responses";
import { Random } from "@trendvault/kit/random";
import { createVerifier } from "../../../web/client/src/verify.ts";

/** What a reader answered with 200, each list by what it is of: two different ones of one name would be torn. */
export type ServedLists = Map<string, string>;

type Options = {
  /** For messages. */
  name: string;
  url: string;
  keys: PublicKeySet;
  lists: ServedLists;
};

/**
 * Asks one reader, and judges each answer: it is signed and whole, the answer to what was asked, a list without gaps,
 * the same as any other answer of that generation, and no older than what the reader had served at that address: after a
 * publication, answers follow each other (docs/decisions/0009). What it has served it goes on serving, unless it was
 * killed.
 */
export class Judge {
  readonly counts = { lists: 0, unavailable: 0, gone: 0 };
  readonly failures: string[] = [];
  newestGeneration = 0;
  readonly #options: Options;
  readonly #verify: ReturnType<typeof createVerifier>;
  readonly #served = new Map<string, number>();
  /** What it has served since it was started. */
  readonly #held = new Set<string>();

  constructor(options: Options) {
    this.#options = options;
    this.#verify = createVerifier({ keys: options.keys });
  }

  /** `target` is the path and query of a list. Resolves with the page, or null when there was none. */
  async ask(target: string): Promise<TrendingPage | null> {
    const served = this.#served.get(target) ?? 0;
    const url = this.#options.url + target;
    const answer = await fetch(url, { signal: AbortSignal.timeout(30_000) }).catch(() => null);
    const content = await answer?.arrayBuffer().catch(() => null);
    if (!answer || !content) {
      this.#held.clear();
      return this.#unavailable();
    }
    const body = new Uint8Array(content);
    try {
      return await this.#judge(target, { url, status: answer.status, headers: answer.headers, body }, served);
    } catch (error) {
      this.failures.push(`${this.#options.name}: ${target}: ${(error as Error).message}`);
      return null;
    }
  }

  async #judge(
    target: string,
    answer: { url: string; status: number; headers: Headers; body: Uint8Array<ArrayBuffer> },
    served: number,
  ): Promise<TrendingPage | null> {
    const text = new TextDecoder().decode(answer.body);
    const isContinued = target.includes("cursor=");
    if (answer.status === 503 && !this.#held.has(target)) return this.#unavailable();
    if (answer.status === 410 && isContinued) return this.#gone();
    if (answer.status !== 200) throw new Error(`status ${answer.status}: ${text.slice(0, 300)}`);
    await this.#verify(answer);
    const page = JSON.parse(text) as TrendingPage;
    requireWhole(page, new URLSearchParams(target.split("?")[1]));
    this.#requireSame(page);
    if (isContinued) return this.#count(page);
    if (page.generation < served) throw new Error(`generation ${page.generation} after ${served}`);
    this.#remember(target, page.generation);
    return this.#count(page);
  }

  /** That all answers of a list of a generation say the same. */
  #requireSame({ generation, region, window, items }: TrendingPage): void {
    const { lists } = this.#options;
    for (const { rank, id } of items) {
      const place = `${generation} ${region} ${window} ${rank}`;
      const other = lists.get(place);
      if (other !== undefined && other !== id) throw new Error(`torn: ${place} is ${id}, and was ${other}`);
      lists.set(place, id);
    }
  }

  #remember(target: string, generation: number): void {
    this.#served.set(target, Math.max(generation, this.#served.get(target) ?? 0));
    this.#held.add(target);
    this.newestGeneration = Math.max(this.newestGeneration, generation);
  }

  #count(page: TrendingPage): TrendingPage {
    this.counts.lists++;
    return page;
  }

  #unavailable(): null {
    this.counts.unavailable++;
    return null;
  }

  #gone(): null {
    this.counts.gone++;
    return null;
  }
}

function requireWhole(page: TrendingPage, asked: URLSearchParams): void {
  if (page.region !== asked.get("region")) throw new Error(`the list of ${page.region}`);
  if (page.window !== (asked.get("window") ?? "day")) throw new Error(`the list of ${page.window}`);
  const cursor = asked.get("cursor");
  const [generation, after] = (cursor ?? `${page.generation}-0`).split("-").map(Number);
  if (page.generation !== generation)
    throw new Error(`a page of generation ${page.generation}, after ${cursor}`);
  const isWhole =
    page.items.length === page.count &&
    page.count > 0 &&
    page.items.every(({ rank }, index) => rank === (after ?? 0) + index + 1);
  if (!isWhole) throw new Error(`ranks ${page.items.map(({ rank }) => rank).join()} after ${cursor}`);
}

type LoadOptions = {
  regions: readonly string[];
  limits: readonly number[];
  connections: number;
  /** Between two requests of a connection, so that others get the processor, too. */
  pauseMs: number;
  seed: number;
};

/** Asks a reader for lists, and for the next pages of some, until it is stopped. */
export function startLoad(judge: Judge, { regions, limits, connections, pauseMs, seed }: LoadOptions) {
  let isRunning = true;
  const connect = async (number: number) => {
    const random = new Random(seed + number);
    while (isRunning) {
      const window = random.pick(windows);
      const page = await judge.ask(
        `/api/trending?region=${random.pick(regions)}&window=${window}&limit=${random.pick(limits)}`,
      );
      if (page?.next && random.below(4) === 0) await judge.ask(page.next);
      await Bun.sleep(pauseMs);
    }
  };
  const all = Promise.all(Array.from({ length: connections }, (_, number) => connect(number)));
  return async () => {
    isRunning = false;
    await all;
  };
}
