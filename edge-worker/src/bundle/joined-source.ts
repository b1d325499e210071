import { answerLifetimes } from "@trendvault/contract/lists";
import { aboutApiPath, publicKeysPath, regionsPath, videoIdAt } from "@trendvault/contract/paths";
import { type ListRefusal, unknownCategory } from "@trendvault/contract/queries";
import type { RegionList } from "@trendvault/contract/responses";
import type { DocumentSource, Held, SourceAnswer } from "../cache/document-source.ts";
import type { Logger } from "../log/logger.ts";
import type { SignedAnswer } from "../origin/read-answer.ts";
import { isNewer, type StoredResponse } from "../origin/stored-response.ts";
import type { CanonicalRequest } from "../rules/canonical-request.ts";
import { freshnessAt } from "../rules/freshness.ts";
import { joinAbouts, joinKeySets, joinRegionLists } from "../rules/join-documents.ts";
import { endOf, inTime } from "./in-time.ts";
import type { JoinedStores, OpenStore } from "./joined-stores.ts";
import { logFailure } from "./log-failure.ts";

type Options = {
  stores: JoinedStores;
  timeoutSeconds: number;
  /** Unix seconds. */
  clock: () => number;
  log: Logger;
};

type Stores = readonly [OpenStore, ...OpenStore[]];

/** What is said of all regions, and made of what each store says. */
const joins: Record<string, { contentType: string; join: (documents: never[]) => object }> = {
  [regionsPath]: { contentType: "application/json", join: joinRegionLists },
  [aboutApiPath]: { contentType: "application/json", join: joinAbouts },
  [publicKeysPath]: { contentType: "application/jwk-set+json", join: joinKeySets },
};

/**
 * The bundles of several stores: what is of a region comes from the store that has it, a video from one that knows it,
 * and what is said of all regions is joined and signed here.
 */
export class JoinedSource implements DocumentSource {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  get waitsUntil(): number | null {
    const all = this.#options.stores.sources.map(({ waitsUntil }) => waitsUntil);
    return all.includes(null) ? null : Math.min(...all.map((until) => until ?? 0));
  }

  async read(request: CanonicalRequest, held: Held): Promise<SourceAnswer> {
    const { timeoutSeconds, log } = this.#options;
    try {
      return await inTime(endOf(timeoutSeconds), this.#read(request, held));
    } catch (error) {
      return logFailure(log, request, error);
    }
  }

  async #read(request: CanonicalRequest, held: Held): Promise<SourceAnswer> {
    const { stores } = this.#options;
    const region = regionOf(request);
    if (region !== null) {
      const found = await stores.find(region, held.waitUntil);
      return found === null ? this.#refuse(unpublishedRegion) : this.#readOfRegion(request, found, held);
    }
    const opened = await stores.open(held.waitUntil);
    if (request.target in joins) return this.#join(request, opened, held);
    const known = opened.find(({ pointer }) => pointer.generation === held.stored?.bundle);
    if (known !== undefined) return known.store.source.read(request, held);
    if (videoIdAt(request.target) === null) return opened[0].store.source.read(request, held);
    return this.#readOfAny(request, opened, held);
  }

  async #readOfRegion(request: CanonicalRequest, found: OpenStore, held: Held): Promise<SourceAnswer> {
    const { store, pointer } = found;
    const isKnown = held.stored?.bundle === pointer.generation;
    if (!isKnown && dependsOnCategory(request)) {
      if (!(await held.mayRead())) return { kind: "rate-limited" };
      const refusal = await this.#refuseCategory(request, found, held);
      if (refusal !== null) return this.#refuse(refusal);
    }
    return store.source.read(request, held);
  }

  /** From a store that has the document; from the one that published last when none has it. */
  async #readOfAny(request: CanonicalRequest, opened: Stores, held: Held): Promise<SourceAnswer> {
    if (!(await held.mayRead())) return { kind: "rate-limited" };
    for (const { store, pointer } of opened) {
      const answer = await store.documents.read(request, pointer, held.waitUntil);
      if (answer !== null) return store.source.read(request, held);
    }
    return opened[0].store.source.read(request, held);
  }

  async #join(request: CanonicalRequest, opened: Stores, held: Held): Promise<SourceAnswer> {
    const until = Math.min(...opened.map((open) => open.until));
    const mark = opened.reduce((sum, { pointer }) => sum + pointer.generation, 0); // rises with each of them
    if (held.stored?.bundle === mark) return { kind: "unchanged", until };
    if (!(await held.mayRead())) return { kind: "rate-limited" };
    const answers = await this.#readAll(request, opened, held);
    const [first, ...others] = answers;
    if (first !== undefined && others.every(({ body }) => body === first.body)) {
      return opened[0].store.source.read(request, held);
    }
    const [{ store, pointer }] = opened;
    const signer = await store.signer.find(pointer, held.waitUntil);
    if (signer === null) return { kind: "refused", refusal: unsigned, until };
    const { contentType, join } = joins[request.target] as (typeof joins)[string];
    const body = JSON.stringify(join(answers.map((answer) => JSON.parse(answer.body)) as never[]));
    const document = { status: 200, contentType, body, lifetimes: answerLifetimes } as const;
    const fetchedAt = Math.max(...answers.map((answer) => answer.created));
    const { created, ...signed } = await signer.signDocument(document, { request, now: fetchedAt });
    const times = { generatedAt: signed.generatedAt ?? fetchedAt, fetchedAt, bundle: mark };
    return this.#take({ ...signed, ...times, target: request.target }, held, until);
  }

  #readAll(request: CanonicalRequest, opened: Stores, { waitUntil }: Held): Promise<SignedAnswer[]> {
    return Promise.all(
      opened.map(async ({ store, pointer }) => {
        const answer = await store.documents.read(request, pointer, waitUntil);
        if (answer === null) throw new Error(`${store.prefix}: it is not in the bundle`);
        return answer;
      }),
    );
  }

  #take(response: StoredResponse, { stored }: Held, until: number): SourceAnswer {
    if (freshnessAt(this.#options.clock(), response) === "unusable")
      throw new Error("all are too old to be served");
    if (stored !== null && !isNewer(response, stored)) return { kind: "unchanged", until };
    return { kind: "response", response };
  }

  /** A category may have lists in the regions of another store only. */
  async #refuseCategory(
    { query }: CanonicalRequest,
    { store, pointer }: OpenStore,
    { waitUntil }: Held,
  ): Promise<ListRefusal | null> {
    const answer = await store.documents.read(regionList, pointer, waitUntil);
    const { categories } = JSON.parse(answer?.body ?? '{"categories":[]}') as RegionList;
    return categories.includes(query?.category ?? "") ? null : unknownCategory(categories);
  }

  #refuse(refusal: ListRefusal): SourceAnswer {
    return { kind: "refused", refusal, until: this.#options.clock() + refusedSeconds };
  }
}

const refusedSeconds = 5;

const regionList: CanonicalRequest = { target: regionsPath, query: null, regionFromCountry: false };

const unpublishedRegion: ListRefusal = {
  kind: "not-found",
  detail: "No list of this market has been published here.",
  extras: {},
};

const unsigned: ListRefusal = {
  kind: "not-ready",
  detail: "Joined documents of several writers need a key to be signed with: EDGE_SIGNING_KEY is missing.",
  extras: {},
};

function dependsOnCategory({ query }: CanonicalRequest): boolean {
  return query?.category !== undefined && query.cursor === undefined;
}

/** Whose list, page, feed or explanation is asked for; null for what is of no region. */
function regionOf({ query, target }: CanonicalRequest): string | null {
  return query?.region ?? new URLSearchParams(target.split("?")[1]).get("region");
}
