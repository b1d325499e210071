/** What the objects of a store are called, after its prefix. A store has what one writer publishes. */

/** The newest pointer, and the newest bundle's. The only two objects that are ever written anew. */
export const currentName = "current.json";
export const currentBundleName = "bundle.json";

/**
 * How a store is called in the pointers of its writer, which readers are told: what follows `s3://` in its PUBLISH, or
 * another name of this form that the operator gave it.
 */
export const storeNamePattern = "[A-Za-z0-9][A-Za-z0-9._/-]{0,99}";

export function isStoreName(text: string): boolean {
  return new RegExp(`^${storeNamePattern}$`).test(text);
}

export const pointerFolder = "pointers/";
export const packFolder = "pointers/packed/";
export const generationFolder = "generations/";

/** An object that never changes is named by its generation and the SHA-256 of its bytes, as base64url. */
export type ObjectIdentity = { generation: number; sha256: string };

export function pointerName(generation: number): string {
  return `${pointerFolder}${generation}.json`;
}

/** The pointers of a finished day (UTC, like 2026-11-22), one a line, in order. */
export function packName(day: string): string {
  return `${packFolder}${day}.jsonl.gz`;
}

export function generationName({ generation, sha256 }: ObjectIdentity): string {
  return `${generationFolder}${generation}-${sha256}.db.gz`;
}

export function bundlePointerName(generation: number): string {
  return `bundles/${generation}.json`;
}

export function bundleName({ generation, sha256 }: ObjectIdentity): string {
  return `bundles/${generation}-${sha256}.bundle`;
}
