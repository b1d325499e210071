import { windows } from "@trendvault/contract/lists";
import { until } from "@trendvault/kit/machine";
import type { Random } from "@trendvault/kit/random";
import { visitorHeaders } from "../../tools/up/visitors.ts";
import { createVerifier } from "../../web/client/src/verify.ts";
import type { Outages, Outcome, Site } from "./figures.ts";
import { observedRegions } from "./writer-part.ts";

const timeoutMs = 60_000; // as browsers wait, and longer than any answer takes that comes at all
const verifiedShare = 20; // one answer of so many: a signature costs more than the rest
const edgeShare = 0.7; // of the requests

type ClientOptions = {
  urls: Record<Site, string>;
  requestsPerSecond: number;
  /** The fields that prove to the origin that a request comes from its edge. */
  edgeFields: () => Promise<Record<string, string>>;
  random: Random;
  outages: Outages;
  onOutcome: (outcome: Outcome) => void;
  /** Called with the generation of every whole list. */
  onList: (site: Site, generation: number) => void;
};

/**
 * Asks both sites at an even pace, whether earlier answers have come or not, and judges every answer. Visitors ask the
 * edge; the origin is asked for what an edge asks for when it has not stored it. Response times count from the moment
 * that a request was due.
 */
export class Clients {
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
      if (answer.status !== 200) return `${target}: status ${answer.status}: ${decode(body).slice(0, 200)}`;
      if (this.#asked++ % verifiedShare === 0)
        await this.#verify({ url, status: 200, headers: answer.headers, body });
      return target.startsWith("/api/trending") ? this.#judgeList(site, target, decode(body)) : null;
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

type Page = { generation: number; count: number; items: { rank: number }[] };

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

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
