import { expect, test } from "bun:test";
import { Random } from "@trendvault/kit/random";
import {
  BrokenBundle,
  type BundleDocument,
  type BundleFile,
  BundleIndexWriter,
  encodeDocuments,
  type ReadRange,
  readBundleIndex,
  readDocument,
} from "./bundle-file.ts";

const random = new Random();
const facts = { generation: 7, generated_at: "2026-11-22T03:40:00Z", signed_at: 1_795_318_800, limits: [24] };

type Bundle = { bytes: Uint8Array<ArrayBuffer>; file: BundleFile };

/** The files of a bundle in memory, with documents in blocks of random lengths. */
function write(documents: readonly BundleDocument[]): Bundle {
  const parts: Uint8Array[] = [new TextEncoder().encode("TVBUNDL1")];
  const index = new BundleIndexWriter(sha256);
  const length = () => parts.reduce((sum, part) => sum + part.length, 0);
  for (let at = 0; at < documents.length; ) {
    const block = documents.slice(at, at + 1 + random.below(5));
    const bytes = Bun.deflateSync(encodeDocuments(block));
    index.add(
      block.map(({ target }) => target),
      bytes,
      length(),
    );
    parts.push(bytes);
    at += block.length;
  }
  const end = index.finish(facts, length());
  const bytes = Uint8Array.from(Buffer.concat([...parts, end.buckets, end.index]));
  const file = {
    sha256: base64url(bytes),
    bytes: bytes.length,
    index_bytes: end.index.length,
    index_sha256: base64url(end.index),
  };
  return { bytes, file };
}

function sha256(bytes: Uint8Array | string): Buffer {
  return new Bun.CryptoHasher("sha256").update(bytes).digest();
}

function base64url(bytes: Uint8Array): string {
  return sha256(bytes).toString("base64url");
}

function documents(count: number): BundleDocument[] {
  return Array.from({ length: count }, (_, number) => ({
    target: `/api/videos/${number}-${random.below(1e9)}`,
    status: 200,
    fields: {
      "content-type": "application/json",
      "unencoded-digest": `sha-256=:${random.below(1e9)}:`,
      etag: `"${random.below(1e9)}"`,
      "content-location": "/",
      "trendvault-cache-control": "max-age=120",
      "signature-input": "tv=()",
      signature: "tv=:AAAA:",
    },
    body: Uint8Array.from({ length: random.below(random.pick([1, 50, 3000])) }, () => random.below(256)),
  }));
}

const rangesOf =
  (bytes: Uint8Array<ArrayBuffer>): ReadRange =>
  async (range) =>
    bytes.slice(range.offset, range.offset + range.bytes);

async function read(target: string, { bytes, file }: Bundle): Promise<BundleDocument | null> {
  const index = await readBundleIndex(file, rangesOf(bytes));
  return readDocument(target, index, rangesOf(bytes));
}

test.each([0, 1, 7, 300, 3000])(
  `every document of %p is found, and no other (seed ${random.seed})`,
  async (count) => {
    const all = documents(count);
    const bundle = write(all);
    const index = await readBundleIndex(bundle.file, rangesOf(bundle.bytes));
    expect(index.manifest).toMatchObject({ ...facts, documents: count });
    for (const document of all) {
      expect(await readDocument(document.target, index, rangesOf(bundle.bytes))).toEqual(document);
    }
    for (const { target } of documents(20)) {
      expect(await readDocument(target, index, rangesOf(bundle.bytes))).toBeNull();
    }
  },
);

test("a document takes two reads once the index is there: a bucket of 16 KB at most, and a block", async () => {
  const all = documents(3000);
  const { bytes, file } = write(all);
  const lengths: number[] = [];
  const counted: ReadRange = (range) => {
    lengths.push(range.bytes);
    return rangesOf(bytes)(range);
  };
  const index = await readBundleIndex(file, counted);
  for (const { target } of all.slice(0, 100)) {
    lengths.length = 0;
    await readDocument(target, index, counted);
    expect(lengths).toHaveLength(2);
    expect(lengths[0]).toBeLessThanOrEqual(16_384);
  }
});

test(`with any byte of the file changed, a document is the right one or none is given (seed ${random.seed})`, async () => {
  const all = documents(9);
  const absent = documents(1)[0]?.target ?? "";
  const { bytes, file } = write(all);
  const outcomes = { right: 0, broken: 0 };
  for (let at = 0; at < bytes.length; at++) {
    const changed = bytes.slice();
    changed[at] = (changed[at] ?? 0) ^ (1 + random.below(255));
    const wanted = random.pick([...all, null]);
    try {
      const given = await read(wanted?.target ?? absent, { bytes: changed, file });
      expect(given).toEqual(wanted);
      outcomes.right++;
    } catch (error) {
      if (!(error instanceof BrokenBundle)) throw error;
      outcomes.broken++;
    }
  }
  expect(outcomes.right).toBeGreaterThan(0);
  expect(outcomes.broken).toBeGreaterThan(0);
});

test(`a file that ends anywhere, and one of another bundle, are broken (seed ${random.seed})`, async () => {
  const all = documents(9);
  const { bytes, file } = write(all);
  const target = all[0]?.target ?? "";
  for (let draw = 0; draw < 50; draw++) {
    const cut = { bytes: bytes.slice(0, random.below(bytes.length)), file };
    await expect(read(target, cut)).rejects.toThrow(BrokenBundle);
  }
  const other = write(all.map((document) => ({ ...document, body: new Uint8Array(1) })));
  await expect(read(target, { bytes: other.bytes, file })).rejects.toThrow(BrokenBundle);
});

test("two documents of one target are refused", () => {
  const [first] = documents(1);
  expect(() => write([first, first] as BundleDocument[])).toThrow("two documents have one target");
});
