import {
  type BundleDocument,
  type BundleFile,
  type BundleManifest,
  type ReadRange,
  readBundleIndex,
  readDocument,
} from "@trendvault/contract/bundle-file";

/** A bundle in a file, read as the edge reads it. */
export type OpenBundle = {
  manifest: BundleManifest;
  read(target: string): Promise<BundleDocument | null>;
};

export async function openBundle(path: string, file: BundleFile): Promise<OpenBundle> {
  const read: ReadRange = ({ offset, bytes }) =>
    Bun.file(path)
      .slice(offset, offset + bytes)
      .bytes();
  const index = await readBundleIndex(file, read);
  return { manifest: index.manifest, read: (target) => readDocument(target, index, read) };
}
