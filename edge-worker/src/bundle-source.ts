import type { PublicKeySet } from "@trendvault/contract/keys";
import { edgeLifetimes, listLengths, listName } from "@trendvault/contract/lists";
import { explainedIdAt, isAssetPath, paths, videoIdAt } from "@trendvault/contract/paths";
import type { BundlePointer } from "@trendvault/contract/pointer";
import { describeProblem, problemContentType } from "@trendvault/contract/problem";
import {
  type ListRefusal,
  listRefusals,
  missing,
  nextPageUrl,
  pageInToken,
  pageStart,
  readCursor,
  type TrendingQuery,
  trendingUrl,
  writeCursor,
} from "@trendvault/contract/queries";
import { type BundleStore, DocumentFailure, publishedAt } from "./bundle-store.ts";
import { LruMap } from "./cache.ts";
import { type DocumentSigner, listInTokens } from "./document-signer.ts";
import {
  type Attempt,
  type DocumentSource,
  type Held,
  type SourceAnswer,
  SourceBreaker,
  type WaitUntil,
} from "./document-source.ts";
import { type Logger, nullOnError } from "./log.ts";
import {
  type CanonicalRequest,
  freshnessAt,
  isPage,
  mayBeMissing,
  pageLike,
  redactedTarget,
  usableSeconds,
} from "./policy.ts";
import { isNewer, type SignedAnswer, type StoredResponse } from "./signed-answer.ts";
import { nullAfter, timeLimit } from "./single-flight.ts";

type Options = {
  store: BundleStore;
  /** What the edge signs with; null: it has no key. */
  signer: Promise<DocumentSigner> | null;
  /** Whether there is no origin: what is in no bundle does not exist then. */
  isOnly: boolean;
  timeoutSeconds: number;
  /** Unix seconds. */
  clock: () => number;
  log: Logger;
};

/** The 50 ranks of a generation's list after `block` times as many. */
type ListPlace = { generation: number; block: number };

/** What reads bundles: documents, and which video has which rank in a list. */
export interface BundleReader extends DocumentSource {
  /** The page at a place of a list, or null when none can be read. */
  readRanks(query: TrendingQuery, place: ListPlace, waitUntil: WaitUntil): Promise<ListPage | null>;
}

/** One request, and the bundle that answers it. `until`: for how long nothing else is known (Unix seconds). */
type Question = Held & { canonical: CanonicalRequest; pointer: BundlePointer; until: number };

type Newest = Awaited<ReturnType<BundleStore["pointers"]["current"]>>;

/** The bundle has no such document, which means nothing. */
class Unknown extends DocumentFailure {}

const patientMs = 1000; // of a read of the newest bundle
const rememberedLists = 4096;
const saysNothing = { retryAfter: 0, isRefusal: true };
const freshPointerSeconds = 15 * 60; // as long as a signature of the origin counts as one of now

/** The bundles of rendered documents: the newest generation's, and for a cursor that of its generation. */
export class BundleSource implements BundleReader {
  readonly store: BundleStore;
  readonly signer: DelegatedSigner;
  readonly #lists: BundledLists;
  readonly #options: Options;
  readonly #breaker: SourceBreaker;
  /** The newest generation of which a list was read, by list. */
  readonly #given = new LruMap<number>(rememberedLists);

  constructor(options: Options) {
    this.#options = options;
    this.store = options.store;
    this.signer = new DelegatedSigner(options);
    this.#lists = new BundledLists(options.store);
    const { clock, timeoutSeconds } = options;
    this.#breaker = new SourceBreaker({ lostSeconds: timeoutSeconds, clock });
  }

  get waitsUntil(): number | null {
    return this.#breaker.waitsUntil;
  }

  async read(canonical: CanonicalRequest, held: Held): Promise<SourceAnswer> {
    const attempt = this.#breaker.begin();
    if (attempt === null) return { kind: "waiting", until: this.waitsUntil ?? 0 };
    try {
      const inTime = timeLimit(this.#options.timeoutSeconds);
      const newest = await inTime(this.store.pointers.current(held.waitUntil));
      const asked = generationOf(canonical);
      const generation = asked ?? newest.pointer.generation;
      if (held.stored?.bundle === generation) {
        this.#breaker.fail(attempt, saysNothing);
        return { kind: "unchanged", until: newest.until };
      }
      if (!(await held.mayRead())) {
        this.#breaker.fail(attempt, saysNothing);
        return { kind: "rate-limited" };
      }
      const reading = this.#read(canonical, { ...held, generation, newest });
      const isCold = held.stored === null && asked === null;
      const answer = await inTime(isCold ? this.#orEarlier(reading, canonical, { held, newest }) : reading);
      this.#breaker.succeed(attempt);
      return answer;
    } catch (error) {
      return this.#fail(attempt, canonical, error);
    }
  }

  /**
   * While the newest bundle is slow or broken, what is cold comes from the one before, if that is hardly older: only
   * documents, as it does not know what is new, and no list of which somebody may have a cursor of a newer one.
   */
  #orEarlier(
    reading: Promise<SourceAnswer>,
    canonical: CanonicalRequest,
    { held, newest: { pointer: newest, until } }: { held: Held; newest: Newest },
  ): Promise<SourceAnswer> {
    const readEarlier = async (error: unknown) => {
      const pointer = await this.store.pointers.before(newest.generation, held.waitUntil);
      const given = this.#given.get(listOf(canonical)) ?? 0;
      const isFresh = pointer && publishedAt(newest) - publishedAt(pointer) < freshPointerSeconds;
      if (isFresh && given <= pointer.generation) {
        const answer = await this.#answer({ ...held, canonical, pointer, until });
        if (answer.kind === "response" && answer.response.status === 200) {
          logFailure(this.#options.log, canonical, error);
          return answer;
        }
      }
      return reading;
    };
    const earlier = nullAfter(Date.now() + patientMs, reading).then(
      (answer) => answer ?? readEarlier("it is slow"),
      (error) => (error instanceof Unknown ? reading : readEarlier(error)),
    );
    return Promise.any([reading, earlier]).catch(() => reading);
  }

  #fail(attempt: Attempt, canonical: CanonicalRequest, error: unknown): SourceAnswer {
    if (error instanceof DocumentFailure) this.#breaker.succeed(attempt);
    // A client chooses the generation of a cursor, which may be too old, or signed with a key that has gone.
    else this.#breaker.fail(attempt, { retryAfter: 0, isRefusal: generationOf(canonical) !== null });
    return logFailure(this.#options.log, canonical, error);
  }

  readRanks(query: TrendingQuery, place: ListPlace, waitUntil: WaitUntil): Promise<ListPage | null> {
    return nullOnError(this.#readRanks(query, place, waitUntil), this.#options.log, "bundle_failed");
  }

  async #readRanks(
    query: TrendingQuery,
    { generation, block }: ListPlace,
    waitUntil: WaitUntil,
  ): Promise<ListPage | null> {
    const { pointer: newest } = await this.store.pointers.current(waitUntil);
    const isNewest = newest.generation === generation;
    const pointer = isNewest ? newest : await this.store.pointers.ofGeneration(generation, waitUntil);
    if (pointer === null) return null;
    return (await this.#lists.readBlock(query, block, { pointer, waitUntil }))?.page ?? null;
  }

  async #read(
    canonical: CanonicalRequest,
    {
      generation,
      newest: { pointer: newest, until },
      ...held
    }: Held & { generation: number; newest: Newest },
  ): Promise<SourceAnswer> {
    const isNewest = generation === newest.generation;
    const pointer = isNewest ? newest : await this.store.pointers.ofGeneration(generation, held.waitUntil);
    if (pointer === null) return this.#withoutBundle(canonical, newest, until);
    return this.#answer({ ...held, canonical, pointer, until }).catch(async (error) => {
      if (isNewest || (await this.store.pointers.isThere(generation))) throw error;
      return this.#withoutBundle(canonical, newest, until); // some of it was read before it was deleted
    });
  }

  async #answer(question: Question): Promise<SourceAnswer> {
    const { canonical, pointer, waitUntil } = question;
    const answer = await this.store.read(canonical, pointer, waitUntil);
    if (answer === null) return this.#withoutDocument(question);
    return this.#take(answer, answer.created, question);
  }

  // The origin may have a generation before it is in a bundle.
  #withoutBundle({ query }: CanonicalRequest, newest: BundlePointer, until: number): SourceAnswer {
    if (query === null) throw new DocumentFailure("there is no bundle of its generation");
    const isGone = (generationOf({ query }) ?? 0) < newest.generation;
    if (!isGone && !this.#options.isOnly)
      throw new DocumentFailure("there is no bundle of its generation yet");
    return { kind: "refused", refusal: listRefusals.generationGone(query), until };
  }

  /** `fetchedAt`: when what is in it was the newest, Unix seconds. */
  #take(
    answer: SignedAnswer,
    fetchedAt: number,
    { canonical, pointer, stored, until }: Question,
  ): SourceAnswer {
    const { created, ...signed } = answer;
    const now = this.#options.clock();
    const generatedAt =
      signed.generatedAt ?? (signed.status === 404 ? (stored?.generatedAt ?? 0) : fetchedAt);
    const times = { generatedAt, fetchedAt, bundle: pointer.generation };
    const response: StoredResponse = { ...signed, ...times, target: canonical.target };
    if (freshnessAt(now, response) === "unusable") throw new DocumentFailure("it is too old to be served");
    if (stored !== null && !isNewer(response, stored)) return { kind: "unchanged", until };
    const list = listOf(canonical);
    if (pointer.generation > (this.#given.get(list) ?? 0)) this.#given.set(list, pointer.generation);
    return { kind: "response", response };
  }

  /** What it means that the bundle has no such document. */
  async #withoutDocument(question: Question): Promise<SourceAnswer> {
    const { canonical, until } = question;
    const { target, query } = canonical;
    if (query !== null && isPage(canonical)) {
      if (query.lang === undefined && query.cursor === undefined) return this.#unexplained();
      if (query.lang === undefined) return this.#findPage(query, question);
      const nearest = pageLike(canonical, { ...query, lang: undefined });
      return { kind: "refused", refusal: notFound(missing.page), nearest, until };
    }
    const [path = ""] = target.split("?");
    if (query !== null && path === paths.trending) return this.#makeList(query, question);
    const detail = notFoundReason(canonical, path);
    if (detail === null || !this.#options.isOnly) return this.#unexplained(); // the origin knows of more
    return this.#missing(detail, question);
  }

  #unexplained(): never {
    throw new Unknown("it is not in the bundle");
  }

  /** A list of another length, with titles by language (those of its region), or a cursor that no page has led to. */
  async #makeList(query: TrendingQuery, question: Question): Promise<SourceAnswer> {
    const { canonical, pointer, waitUntil, until } = question;
    const parts = await this.#lists.readParts(query, question);
    if (parts === null && query.cursor === undefined) return this.#unexplained();
    if (parts === null || isPastTheEnd(query, parts.pages[0].total)) {
      return this.#missing(missing.page, question);
    }
    const key = await this.signer.find(pointer, waitUntil);
    if (key === null) {
      if (!this.#options.isOnly) return this.#unexplained(); // the origin makes any
      const limits = await this.store.limitsOf(pointer, waitUntil);
      return { kind: "refused", refusal: cannotMake(query, limits), until };
    }
    const answer = await this.#lists.write({ canonical, query }, parts, key);
    return this.#take(answer, parts.answer.created, question);
  }

  /** Whether there is such a page of a list for people. Its first one has no cursor. */
  async #findPage(query: TrendingQuery, question: Question): Promise<SourceAnswer> {
    const block = await this.#lists.readBlock(query, 0, question);
    if (block === null || isPastTheEnd(query, block.page.total)) {
      return this.#missing(missing.page, question);
    }
    const nearest = pageLike(question.canonical, { ...query, cursor: undefined });
    return { kind: "refused", refusal: notFound(missing.page), nearest, until: question.until };
  }

  /** What does not exist, signed where there is a key. Of an old bundle nothing follows about now. */
  async #missing(detail: string, question: Question): Promise<SourceAnswer> {
    const { clock } = this.#options;
    const { canonical, pointer, waitUntil, until } = question;
    const now = clock();
    if (canonical.query === null && publishedAt(pointer) < now - freshPointerSeconds) {
      throw new Unknown("it is not in the bundle, which is too old to deny it");
    }
    const refusal = notFound(detail);
    const key = await this.signer.find(pointer, waitUntil);
    if (key === null) return { kind: "refused", refusal, until };
    const body = JSON.stringify(describeProblem(refusal.kind, detail));
    const lifetimes = edgeLifetimes.missing;
    const document = { status: 404, contentType: problemContentType, body, lifetimes } as const;
    return this.#take(await key.signDocument(document, { canonical, now }), now, question);
  }
}

function generationOf({ query }: Pick<CanonicalRequest, "query">): number | null {
  return query?.cursor === undefined ? null : readCursor(query.cursor).generation;
}

/** Which list is asked for; what is none is by itself. */
function listOf({ query, target }: CanonicalRequest): string {
  return query === null ? target : `${query.region} ${query.window} ${listName(query)}`;
}

function isPastTheEnd(query: TrendingQuery, total: number): boolean {
  return query.cursor !== undefined && pageStart(query) >= total;
}

function notFound(detail: string): ListRefusal {
  return { kind: "not-found", detail, extras: {} };
}

function cannotMake({ titles }: TrendingQuery, limits: readonly number[]): ListRefusal {
  const [name, detail] =
    titles === undefined
      ? ["limit", `expected one of ${limits.join(", ")}`]
      : ["titles", "expected none without an origin"];
  return {
    kind: "invalid-parameter",
    detail: `${name}: ${detail}`,
    extras: { invalid: [{ name, detail }] },
  };
}

/** A page of a list, as far as other pages are made of it. */
export type ListPage = { generation: number; total: number; items: ListedVideo[] };
type ListedVideo = { rank: number; id: string; made_for_kids?: true };

type Block = { page: ListPage; answer: SignedAnswer };

/** The pages of 50 ranks that another page is made of. `answer`: the one of them that may be used for less time. */
type Parts = { pages: [ListPage, ...ListPage[]]; answer: SignedAnswer };

/** Lists of a bundle's generation of any length, made of the longest pages, which are always there. */
class BundledLists {
  readonly #store: BundleStore;

  constructor(store: BundleStore) {
    this.#store = store;
  }

  /**
   * The page of 50 ranks that begins after `block` times as many, or null when the list ends before, or when there is
   * none. @throws Error when that cannot be read or is broken
   */
  async readBlock(
    query: TrendingQuery,
    block: number,
    { pointer, waitUntil }: { pointer: BundlePointer; waitUntil: WaitUntil },
  ): Promise<Block | null> {
    const { generation } = pointer;
    const start = writeCursor({ generation, afterRank: block * listLengths.largestPage });
    const cursor = block === 0 ? undefined : start; // as `next` leads there
    const target = trendingUrl({ ...query, titles: undefined, limit: listLengths.largestPage, cursor });
    const canonical: CanonicalRequest = { target, query, regionFromCountry: false };
    const answer = await this.#store.read(canonical, pointer, waitUntil);
    return answer === null ? null : { page: JSON.parse(answer.body) as ListPage, answer };
  }

  /** What a page is made of; null when its list ends before it, or when there is no such list. @throws as readBlock */
  async readParts(
    query: TrendingQuery,
    source: { pointer: BundlePointer; waitUntil: WaitUntil },
  ): Promise<Parts | null> {
    const start = pageStart(query);
    const blockOf = (ranks: number) => Math.floor(ranks / listLengths.largestPage);
    const first = await this.readBlock(query, blockOf(start), source);
    if (first === null) return null;
    const { page, answer } = first;
    const last = Math.min(start + query.limit, page.total) - 1;
    if (blockOf(last) <= blockOf(start)) return { pages: [page], answer };
    const second = await this.readBlock(query, blockOf(last), source);
    if (second === null) throw new DocumentFailure("a page of its list is missing");
    const isSecond = usableSeconds(second.answer.lifetimes) < usableSeconds(answer.lifetimes);
    return { pages: [page, second.page], answer: isSecond ? second.answer : answer };
  }

  /**
   * The page of a request as the origin writes it, with the edge's signature, of the time when the origin signed what
   * it is made of: nobody must take an old list for one of now.
   */
  async write(
    { canonical, query }: { canonical: CanonicalRequest; query: TrendingQuery },
    { pages: [page, ...others], answer: { created, headers } }: Parts,
    signer: DocumentSigner,
  ): Promise<SignedAnswer> {
    const [start, { limit }] = [pageStart(query), query];
    const all = [page, ...others].flatMap(({ items }) => items);
    const items = all.filter(({ rank }) => rank > start && rank <= start + limit);
    const list = pageInToken(query, page, await listInTokens(query));
    const token = await signer.signToken(list, created);
    const changed = { count: items.length, token, items, next: nextPageUrl(query, page) };
    const body = JSON.stringify({ ...page, ...changed }); // its members keep their places
    const document = {
      status: 200,
      contentType: "application/json",
      body,
      lifetimes: headers[edgeLifetimes.field] as string,
    } as const;
    return signer.signDocument(document, { canonical, now: created });
  }
}

const keySet: CanonicalRequest = { target: paths.publicKeys, query: null, regionFromCountry: false };

/** The key that the edge signs with, where the key set in a bundle, which the origin has signed, names it. */
class DelegatedSigner {
  readonly #options: Pick<Options, "store" | "signer" | "log">;
  #asked: { generation: number; isNamed: boolean } | null = null;

  constructor(options: Pick<Options, "store" | "signer" | "log">) {
    this.#options = options;
  }

  /** Null: there is none, or nobody could verify what it signs. @throws Error when the bundle cannot be read */
  async find(pointer: BundlePointer, waitUntil: WaitUntil): Promise<DocumentSigner | null> {
    const { signer: promised, store } = this.#options;
    if (promised === null) return null;
    const signer = await promised;
    if (this.#asked?.generation !== pointer.generation) {
      const answer = await store.read(keySet, pointer, waitUntil);
      const isNamed = answer !== null && signer.isNamedIn(JSON.parse(answer.body) as PublicKeySet);
      if (!isNamed && this.#asked?.isNamed !== false) this.#logUnnamed();
      this.#asked = { generation: pointer.generation, isNamed };
    }
    return this.#asked.isNamed ? signer : null;
  }

  #logUnnamed(): void {
    const message = "The bundle's key set does not name EDGE_SIGNING_KEY: see EDGE_SIGNING_PUBLIC_KEYS.";
    this.#options.log({ level: "error", event: "edge_key_unknown", message });
  }
}

/** What is said when there is no document at a path; null when there should be one. */
function notFoundReason(canonical: CanonicalRequest, path: string): string | null {
  if (explainedIdAt(path) !== null) return missing.explanation;
  if (videoIdAt(path) !== null) return missing.video;
  if (isAssetPath(path)) return missing.asset;
  return mayBeMissing(canonical) ? missing.publicUrl : null;
}

/** Says why bundles have no answer to a request, and gives the answer that says so. */
export function logFailure(log: Logger, canonical: CanonicalRequest, error: unknown): SourceAnswer {
  const message = "A bundle gave no response that can be served.";
  const reason = error instanceof Error ? error.message : String(error);
  log({ level: "error", event: "bundle_failed", message, target: redactedTarget(canonical), reason });
  return { kind: "failed", status: null, retryAfter: 0 };
}
