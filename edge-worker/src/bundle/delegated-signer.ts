import type { PublicKeySet } from "@trendvault/contract/keys";
import { publicKeysPath } from "@trendvault/contract/paths";
import type { BundlePointer } from "@trendvault/contract/pointer";
import type { Logger } from "../log/logger.ts";
import type { CanonicalRequest } from "../rules/canonical-request.ts";
import type { BundleDocuments } from "./bundle-documents.ts";
import type { DocumentSigner } from "./document-signer.ts";

type Options = { documents: BundleDocuments; signer: Promise<DocumentSigner> | null; log: Logger };

const keySet: CanonicalRequest = { target: publicKeysPath, query: null, regionFromCountry: false };

/** The key that the edge signs with, where the key set in a bundle, which the origin has signed, names it. */
export class DelegatedSigner {
  readonly #options: Options;
  #asked: { generation: number; isNamed: boolean } | null = null;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Null: there is none, or nobody could verify what it signs. @throws Error when the bundle cannot be read */
  async find(
    pointer: BundlePointer,
    waitUntil: (work: Promise<unknown>) => void,
  ): Promise<DocumentSigner | null> {
    const { signer: promised, documents } = this.#options;
    if (promised === null) return null;
    const signer = await promised;
    if (this.#asked?.generation !== pointer.generation) {
      const answer = await documents.read(keySet, pointer, waitUntil);
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
