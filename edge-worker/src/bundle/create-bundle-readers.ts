import type { PublicKey, PublicKeySet } from "@trendvault/contract/public-keys";
import type { DocumentSource } from "../cache/document-source.ts";
import type { Logger } from "../log/logger.ts";
import type { BackoffOptions } from "../rules/backoff.ts";
import { type Bucket, BundleBucket } from "./bundle-bucket.ts";
import { BundleDocuments } from "./bundle-documents.ts";
import { BundlePointers } from "./bundle-pointers.ts";
import { BundleRanges } from "./bundle-ranges.ts";
import { BundleSource } from "./bundle-source.ts";
import { BundledLists } from "./bundled-lists.ts";
import { BundledRanks } from "./bundled-ranks.ts";
import { DelegatedSigner } from "./delegated-signer.ts";
import { DocumentSigner } from "./document-signer.ts";
import { SharedBytes } from "./shared-bytes.ts";

type Options = {
  bucket: Bucket;
  prefix: string;
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
  ranks: BundledRanks;
  /** Keys that the edge signs tokens with. */
  tokenKeys: Promise<PublicKey[]>;
};

/** `shared`: the data centre's cache, unless another is given. */
export function createBundleReaders(
  options: Options,
  shared: Pick<SharedBytes, "match" | "put" | "delete"> = new SharedBytes(options.base),
): BundleReaders {
  const { signingSeed, keys, log } = options;
  const bucket = new BundleBucket(options);
  const pointers = new BundlePointers({ ...options, bucket, shared });
  const documents = new BundleDocuments(new BundleRanges({ ...options, bucket, shared }), keys);
  const lists = new BundledLists(documents);
  const created = signingSeed && DocumentSigner.create(signingSeed);
  const signer = new DelegatedSigner({ documents, signer: created, log });
  return {
    source: new BundleSource({ ...options, pointers, documents, lists, signer }),
    ranks: new BundledRanks({ pointers, lists, log }),
    tokenKeys: created === null ? Promise.resolve([]) : created.then(({ tokenKey }) => [tokenKey]),
  };
}
