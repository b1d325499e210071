import type { BundlePointer } from "@trendvault/contract/pointer";
import type { DocumentSource } from "../cache/document-source.ts";
import type { BundleDocuments } from "./bundle-documents.ts";
import { type BundlePointers, publishedAt } from "./bundle-pointers.ts";
import type { BundledRanks } from "./bundled-ranks.ts";
import type { DelegatedSigner } from "./delegated-signer.ts";

type WaitUntil = (work: Promise<unknown>) => void;

/** What one writer publishes, and its readers. */
export type BundleStore = {
  prefix: string;
  pointers: BundlePointers;
  documents: BundleDocuments;
  signer: DelegatedSigner;
  source: DocumentSource;
  ranks: BundledRanks;
};

/** A store as it is now. `regions`: whose lists it has; null: of all. `until`: Unix seconds. */
export type OpenStore = {
  store: BundleStore;
  pointer: BundlePointer;
  regions: string[] | null;
  until: number;
};

/** The stores of writers that share the regions. */
export class JoinedStores {
  readonly #stores: readonly BundleStore[];
  readonly #known = new Map<BundleStore, OpenStore>();

  /** At least one. */
  constructor(stores: readonly BundleStore[]) {
    this.#stores = stores;
  }

  get sources(): DocumentSource[] {
    return this.#stores.map(({ source }) => source);
  }

  /** All of them, the one that published last first. @throws Error that names one that could never be read */
  async open(waitUntil: WaitUntil): Promise<[OpenStore, ...OpenStore[]]> {
    const opened = await Promise.all(this.#stores.map((store) => this.#open(store, waitUntil)));
    const sorted = opened.toSorted((left, right) => publishedAt(right.pointer) - publishedAt(left.pointer));
    return sorted as [OpenStore, ...OpenStore[]];
  }

  /**
   * The store of a region: of several that have it, the one with the largest number. Null when no store has it. @throws
   * Error when that is not known
   */
  async find(region: string, waitUntil: WaitUntil): Promise<OpenStore | null> {
    const opened = await Promise.allSettled(this.#stores.map((store) => this.#open(store, waitUntil)));
    const having = opened
      .flatMap((one) => (one.status === "fulfilled" ? one.value : []))
      .filter(({ regions }) => regions?.includes(region) ?? true)
      .toSorted((left, right) => right.pointer.generation - left.pointer.generation);
    const [found] = having;
    const failed = opened.find((one) => one.status === "rejected");
    if (found === undefined && failed !== undefined) throw failed.reason;
    return found ?? null;
  }

  // What a store had stays true enough to find it by, while it cannot be read.
  async #open(store: BundleStore, waitUntil: WaitUntil): Promise<OpenStore> {
    try {
      const { pointer, until } = await store.pointers.current(waitUntil);
      const regions = await store.documents.regionsOf(pointer, waitUntil);
      const open = { store, pointer, regions, until };
      this.#known.set(store, open);
      return open;
    } catch (error) {
      const known = this.#known.get(store);
      if (known !== undefined) return known;
      throw new Error(`${store.prefix}: ${(error as Error).message}`, { cause: error });
    }
  }
}
