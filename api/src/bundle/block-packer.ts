import { type BundleDocument, encodeDocuments } from "@trendvault/contract/bundle-file";

/** A compressed block, and the targets of its documents in their order. */
export type Block = { targets: string[]; bytes: Uint8Array<ArrayBuffer> };

const blockBytes = 65_536; // inflated: a reader of one document inflates and keeps the others, too
const level = 6;

/** Packs documents into blocks in their order; one that is larger than a block has its own. */
export function* packBlocks(documents: Iterable<BundleDocument>): Generator<Block> {
  let waiting: BundleDocument[] = [];
  let bytes = 0;
  for (const document of documents) {
    if (waiting.length > 0 && bytes + document.body.length > blockBytes) {
      yield pack(waiting);
      [waiting, bytes] = [[], 0];
    }
    waiting.push(document);
    bytes += document.body.length;
  }
  if (waiting.length > 0) yield pack(waiting);
}

function pack(documents: BundleDocument[]): Block {
  const bytes = Bun.deflateSync(encodeDocuments(documents), { level, library: "libdeflate" });
  return { targets: documents.map(({ target }) => target), bytes: new Uint8Array(bytes) };
}
