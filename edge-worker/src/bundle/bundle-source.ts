import { missingLifetimes } from "@trendvault/contract/lists";
import { pageUrl } from "@trendvault/contract/page";
import type { BundlePointer } from "@trendvault/contract/pointer";
import { describeProblem, problemContentType } from "@trendvault/contract/problem";
import {
  generationGone,
  type ListRefusal,
  missing,
  pageStart,
  readCursor,
  type TrendingQuery,
} from "@trendvault/contract/queries";
import type { DocumentSource, Held, SourceAnswer } from "../cache/document-source.ts";
import { SourceBreaker } from "../cache/source-breaker.ts";
import type { Logger } from "../log/logger.ts";
import type { SignedAnswer } from "../origin/read-answer.ts";
import { isNewer, type StoredResponse } from "../origin/stored-response.ts";
import type { BackoffOptions } from "../rules/backoff.ts";
import type { CanonicalRequest } from "../rules/canonical-request.ts";
import { freshnessAt } from "../rules/freshness.ts";
import type { BundleDocuments } from "./bundle-documents.ts";
import { type BundlePointers, publishedAt } from "./bundle-pointers.ts";
import type { BundledLists } from "./bundled-lists.ts";
import type { DelegatedSigner } from "./delegated-signer.ts";
import { DocumentFailure } from "./document-failure.ts";
import { explainAbsence } from "./explain-absence.ts";
import { endOf, inTime } from "./in-time.ts";
import { logFailure } from "./log-failure.ts";

type Options = {
  pointers: BundlePointers;
  documents: BundleDocuments;
  lists: BundledLists;
  signer: DelegatedSigner;
  /** Whether there is no origin: what is in no bundle does not exist then. */
  isOnly: boolean;
  timeoutSeconds: number;
  backoff: BackoffOptions;
  /** Unix seconds. */
  clock: () => number;
  log: Logger;
};

/** One request, and the bundle that answers it. `until`: for how long nothing else is known (Unix seconds). */
type Question = Held & { request: CanonicalRequest; pointer: BundlePointer; until: number };

type Newest = Awaited<ReturnType<BundlePointers["current"]>>;

const freshPointerSeconds = 15 * 60; // as long as a signature of the origin counts as one of now

/** The bundles of rendered documents: the newest generation's, and for a cursor that of its generation. */
export class BundleSource implements DocumentSource {
  readonly #options: Options;
  readonly #breaker: SourceBreaker;

  constructor(options: Options) {
    this.#options = options;
    const { backoff, clock, timeoutSeconds } = options;
    this.#breaker = new SourceBreaker({ ...backoff, probeSeconds: timeoutSeconds, clock });
  }

  get waitsUntil(): number | null {
    return this.#breaker.waitsUntil;
  }

  async read(request: CanonicalRequest, held: Held): Promise<SourceAnswer> {
    if (this.waitsUntil !== null) return { kind: "waiting", until: this.waitsUntil };
    try {
      const end = endOf(this.#options.timeoutSeconds);
      const newest = await inTime(end, this.#options.pointers.current(held.waitUntil));
      const generation = generationOf(request) ?? newest.pointer.generation;
      if (held.stored?.bundle === generation) return { kind: "unchanged", until: newest.until };
      if (!(await held.mayRead())) return { kind: "rate-limited" };
      if (!this.#breaker.begin()) return { kind: "waiting", until: this.waitsUntil ?? 0 };
      const answer = await inTime(end, this.#read(request, { ...held, generation, newest }));
      this.#breaker.succeed();
      return answer;
    } catch (error) {
      return this.#fail(request, error);
    }
  }

  #fail(request: CanonicalRequest, error: unknown): SourceAnswer {
    if (error instanceof DocumentFailure) this.#breaker.succeed();
    // Whoever asks chooses the generation of a cursor, which may be too old, or signed with a key that has gone.
    else this.#breaker.fail({ retryAfter: 0, isRefusal: generationOf(request) !== null });
    return logFailure(this.#options.log, request, error);
  }

  async #read(
    request: CanonicalRequest,
    {
      generation,
      newest: { pointer: newest, until },
      ...held
    }: Held & { generation: number; newest: Newest },
  ): Promise<SourceAnswer> {
    const { pointers, documents } = this.#options;
    const isNewest = generation === newest.generation;
    const pointer = isNewest ? newest : await pointers.ofGeneration(generation, held.waitUntil);
    if (pointer === null) return this.#withoutBundle(request, newest, until);
    const question = { ...held, request, pointer, until };
    const answer = await documents.read(request, pointer, held.waitUntil);
    if (answer === null) return this.#withoutDocument(question);
    return this.#take(answer, answer.created, question);
  }

  // The origin may have a generation before it is in a bundle.
  #withoutBundle({ query }: CanonicalRequest, newest: BundlePointer, until: number): SourceAnswer {
    if (query === null) throw new DocumentFailure("there is no bundle of its generation");
    const isGone = (generationOf({ query }) ?? 0) < newest.generation;
    if (!isGone && !this.#options.isOnly)
      throw new DocumentFailure("there is no bundle of its generation yet");
    return { kind: "refused", refusal: generationGone(query), until };
  }

  /** `fetchedAt`: when what is in it was the newest, Unix seconds. */
  #take(
    answer: SignedAnswer,
    fetchedAt: number,
    { request, pointer, stored, until }: Question,
  ): SourceAnswer {
    const { created, ...signed } = answer;
    const now = this.#options.clock();
    const generatedAt =
      signed.generatedAt ?? (signed.status === 404 ? (stored?.generatedAt ?? 0) : fetchedAt);
    const times = { generatedAt, fetchedAt, bundle: pointer.generation };
    const response: StoredResponse = { ...signed, ...times, target: request.target };
    if (freshnessAt(now, response) === "unusable") throw new DocumentFailure("it is too old to be served");
    if (stored !== null && !isNewer(response, stored)) return { kind: "unchanged", until };
    return { kind: "response", response };
  }

  async #withoutDocument(question: Question): Promise<SourceAnswer> {
    const { request, until } = question;
    const { query } = request;
    const absence = explainAbsence(request);
    switch (absence.kind) {
      case "list":
        return query === null ? this.#unexplained() : this.#makeList(query, question);
      case "page":
        return query === null ? this.#unexplained() : this.#findPage(query, question);
      case "elsewhere":
        return { kind: "refused", refusal: notFound(missing.page), nearest: absence.nearest, until };
      case "missing":
        if (!this.#options.isOnly) return this.#unexplained(); // the origin knows of more
        return this.#missing(absence.detail, question);
      case "unexplained":
        return this.#unexplained();
    }
  }

  #unexplained(): never {
    throw new DocumentFailure("it is not in the bundle");
  }

  /** A list of another length, or a cursor that no page has led to. */
  async #makeList(query: TrendingQuery, question: Question): Promise<SourceAnswer> {
    const { lists, documents, signer } = this.#options;
    const { request, pointer, waitUntil, until } = question;
    const parts = await lists.readParts(query, question);
    if (parts === null && query.cursor === undefined) return this.#unexplained();
    if (parts === null || isPastTheEnd(query, parts.pages[0].total)) {
      return this.#missing(missing.page, question);
    }
    const key = await signer.find(pointer, waitUntil);
    if (key === null) {
      const limits = await documents.limitsOf(pointer, waitUntil);
      return { kind: "refused", refusal: otherLimit(limits), until };
    }
    const answer = await lists.write({ request, query }, parts, key);
    return this.#take(answer, parts.signedAt, question);
  }

  /** Whether there is such a page of a list for people. Its first one has no cursor. */
  async #findPage(query: TrendingQuery, question: Question): Promise<SourceAnswer> {
    const block = await this.#options.lists.readBlock(query, 0, question);
    if (block === null || isPastTheEnd(query, block.page.total)) {
      return this.#missing(missing.page, question);
    }
    const nearest = pageUrl({ ...query, cursor: undefined });
    return { kind: "refused", refusal: notFound(missing.page), nearest, until: question.until };
  }

  /** What does not exist, signed where there is a key. Of an old bundle nothing follows about now. */
  async #missing(detail: string, question: Question): Promise<SourceAnswer> {
    const { signer, clock } = this.#options;
    const { request, pointer, waitUntil, until } = question;
    const now = clock();
    if (request.query === null && publishedAt(pointer) < now - freshPointerSeconds) {
      throw new DocumentFailure("it is not in the bundle, which is too old to say that it does not exist");
    }
    const refusal = notFound(detail);
    const key = await signer.find(pointer, waitUntil);
    if (key === null) return { kind: "refused", refusal, until };
    const body = JSON.stringify(describeProblem(refusal.kind, detail));
    const lifetimes = missingLifetimes;
    const document = { status: 404, contentType: problemContentType, body, lifetimes } as const;
    return this.#take(await key.signDocument(document, { request, now }), now, question);
  }
}

function generationOf({ query }: Pick<CanonicalRequest, "query">): number | null {
  return query?.cursor === undefined ? null : readCursor(query.cursor).generation;
}

function isPastTheEnd(query: TrendingQuery, total: number): boolean {
  return query.cursor !== undefined && pageStart(query) >= total;
}

function notFound(detail: string): ListRefusal {
  return { kind: "not-found", detail, extras: {} };
}

function otherLimit(limits: readonly number[]): ListRefusal {
  const detail = `expected one of ${limits.join(", ")}`;
  return {
    kind: "invalid-parameter",
    detail: `limit: ${detail}`,
    extras: { invalid: [{ name: "limit", detail }] },
  };
}
