import { answerLifetimes, largestLimit } from "@trendvault/contract/lists";
import type { BundlePointer } from "@trendvault/contract/pointer";
import {
  nextPageUrl,
  pageInToken,
  pageStart,
  type TrendingQuery,
  trendingUrl,
  writeCursor,
} from "@trendvault/contract/queries";
import type { SignedAnswer } from "../origin/read-answer.ts";
import type { CanonicalRequest } from "../rules/canonical-request.ts";
import { listInTokens } from "../rules/list-in-tokens.ts";
import type { BundleDocuments } from "./bundle-documents.ts";
import { DocumentFailure } from "./document-failure.ts";
import type { DocumentSigner } from "./document-signer.ts";

type WaitUntil = (work: Promise<unknown>) => void;

/** A page of a list, as far as other pages are made of it. */
export type ListPage = { generation: number; total: number; items: { rank: number; id: string }[] };

/** The pages of 50 ranks that another page is made of. `signedAt`: when the origin signed them, Unix seconds. */
type Parts = { pages: [ListPage, ...ListPage[]]; signedAt: number };

/** Lists of a bundle's generation of any length, made of the longest pages, which are always there. */
export class BundledLists {
  readonly #documents: BundleDocuments;

  constructor(documents: BundleDocuments) {
    this.#documents = documents;
  }

  /**
   * The page of 50 ranks that begins after `block` times as many, or null when the list ends before, or when there is
   * none. @throws Error when that cannot be read or is broken
   */
  async readBlock(
    query: TrendingQuery,
    block: number,
    { pointer, waitUntil }: { pointer: BundlePointer; waitUntil: WaitUntil },
  ): Promise<{ page: ListPage; signedAt: number } | null> {
    const { generation } = pointer;
    const start = writeCursor({ generation, afterRank: block * largestLimit });
    const cursor = block === 0 ? undefined : start; // as `next` leads there
    const target = trendingUrl({ ...query, limit: largestLimit, cursor });
    const request: CanonicalRequest = { target, query, regionFromCountry: false };
    const answer = await this.#documents.read(request, pointer, waitUntil);
    return answer === null ? null : { page: JSON.parse(answer.body) as ListPage, signedAt: answer.created };
  }

  /** What a page is made of; null when its list ends before it, or when there is no such list. @throws as readBlock */
  async readParts(
    query: TrendingQuery,
    source: { pointer: BundlePointer; waitUntil: WaitUntil },
  ): Promise<Parts | null> {
    const start = pageStart(query);
    const first = await this.readBlock(query, Math.floor(start / largestLimit), source);
    if (first === null) return null;
    const { page, signedAt } = first;
    const end = Math.min(start + query.limit, page.total);
    if (end <= (Math.floor(start / largestLimit) + 1) * largestLimit) return { pages: [page], signedAt };
    const second = await this.readBlock(query, Math.floor((end - 1) / largestLimit), source);
    if (second === null) throw new DocumentFailure("a page of the list is not in the bundle");
    return { pages: [page, second.page], signedAt };
  }

  /**
   * The page of a request as the origin writes it, with the edge's signature, of the time when the origin signed what
   * it is made of: nobody must take an old list for one of now.
   */
  async write(
    { request, query }: { request: CanonicalRequest; query: TrendingQuery },
    { pages: [page, ...others], signedAt }: Parts,
    signer: DocumentSigner,
  ): Promise<SignedAnswer> {
    const [start, { limit }] = [pageStart(query), query];
    const all = [page, ...others].flatMap(({ items }) => items);
    const items = all.filter(({ rank }) => rank > start && rank <= start + limit);
    const list = pageInToken(query, page, await listInTokens(query));
    const token = await signer.signToken(list, signedAt);
    const changed = { count: items.length, token, items, next: nextPageUrl(query, page) };
    const body = JSON.stringify({ ...page, ...changed }); // its members keep their places
    const document = {
      status: 200,
      contentType: "application/json",
      body,
      lifetimes: answerLifetimes,
    } as const;
    return signer.signDocument(document, { request, now: signedAt });
  }
}
