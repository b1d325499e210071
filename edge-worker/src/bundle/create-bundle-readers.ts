import type { PublicKey, PublicKeySet } from "@trendvault/contract/keys";
import type { DocumentSource } from "../cache/document-source.ts";
import type { Logger } from "../log/logger.ts";
import type { BackoffOptions } from "../rules/backoff.ts";
import { type Bucket, BundleBucket } from "./bundle-bucket.ts";
import { BundleDocuments } from "./bundle-documents.ts";
import { BundlePointers } from "./bundle-pointers.ts";
import { BundleRanges } from "./bundle-ranges.ts";
import { BundleSource } from "./bundle-source.ts";
import { BundledLists } from "./bundled-lists.ts";
import { BundledRanks, type RankReader } from "./bundled-ranks.ts";
import { DelegatedSigner } from "./delegated-signer.ts";
import { DocumentSigner } from "./document-signer.ts";
import { JoinedRanks } from "./joined-ranks.ts";
import { JoinedSource } from "./joined-source.ts";
import { type BundleStore, JoinedStores } from "./joined-stores.ts";
import { SharedBytes } from "./shared-bytes.ts";

/** Where in the bucket a store is, and what its writer calls it. */
export type StorePlace = { prefix: string; name: string };

type Options = {
  bucket: Bucket;
  /** One for each writer that shares the regions with others. */
  stores: StorePlace[];
  /** Of the key that the edge signs with; null: there is none. */
  signingSeed: Uint8Array | null;
  /** What documents and pointers have to be signed with. */
  keys: PublicKeySet;
  /** For a document, all reads of the bucket together. */
  timeoutSeconds: number;
  backoff: BackoffOptions;
  /** Makes addresses of what the data centre caches. */
  base: URL;
  /** Whether there is no origin. */
  isOnly: boolean;
  /** Unix seconds. */
  clock: () => number;
  log: Logger;
};

/** What reads bundles: as the source of documents, and of the ranks that messages are about. */
export type BundleReaders = {
  source: DocumentSource;
  ranks: RankReader;
  /** Keys that the edge signs tokens with. */
  tokenKeys: Promise<PublicKey[]>;
};

/** `sharedOf`: what isolates share of a store, by its prefix: the data centre's cache, unless another is given. */
export function createBundleReaders(
  options: Options,
  sharedOf: (prefix: string) => Shared = (prefix) => new SharedBytes(options.base, prefix),
): BundleReaders {
  const { signingSeed } = options;
  const created = signingSeed && DocumentSigner.create(signingSeed);
  const stores = options.stores.map(({ prefix, name }) =>
    createStore({ ...options, prefix, store: name, shared: sharedOf(prefix), signer: created }),
  );
  const [only, ...others] = stores;
  if (only === undefined) throw new Error("Cannot read bundles of no store");
  const tokenKeys = created === null ? Promise.resolve([]) : created.then(({ tokenKey }) => [tokenKey]);
  if (others.length === 0) return { source: only.source, ranks: only.ranks, tokenKeys };
  const joined = new JoinedStores(stores);
  const source = new JoinedSource({ ...options, stores: joined });
  return { source, ranks: new JoinedRanks(joined), tokenKeys };
}

type Shared = Pick<SharedBytes, "match" | "put" | "delete">;
type StoreOptions = Omit<Options, "stores"> & {
  prefix: string;
  /** What its writer calls it. */
  store: string;
  shared: Shared;
  signer: Promise<DocumentSigner> | null;
};

function createStore(options: StoreOptions): BundleStore {
  const { prefix, log } = options;
  const bucket = new BundleBucket(options);
  const pointers = new BundlePointers({ ...options, bucket });
  const documents = new BundleDocuments(new BundleRanges({ ...options, bucket }), options);
  const lists = new BundledLists(documents);
  const signer = new DelegatedSigner({ documents, signer: options.signer, log });
  const source = new BundleSource({ ...options, pointers, documents, lists, signer });
  return { prefix, pointers, documents, signer, source, ranks: new BundledRanks({ pointers, lists, log }) };
}
