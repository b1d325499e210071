import { FolderStore } from "./folder-store.ts";
import type { ObjectStore } from "./object-store.ts";
import { type S3Options, S3Store } from "./s3-store.ts";

/** What a store's address names. */
export type StoreAddress =
  | { kind: "s3"; text: string; bucket: string; prefix: string }
  | { kind: "folder"; text: string };

/** Reads `s3://bucket`, `s3://bucket/prefix`, or the path of a folder. @throws Error that says what was expected */
export function parseAddress(text: string): StoreAddress {
  if (!/^[a-z0-9]+:\/\//i.test(text)) {
    if (text === "") throw new Error('"" is no store: expected s3://bucket/prefix, or the path of a folder');
    return { kind: "folder", text };
  }
  const [, bucket, prefix = ""] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(text) ?? [];
  const isPrefix = /^[A-Za-z0-9._-]*(\/[A-Za-z0-9._-]+)*\/?$/.test(prefix);
  if (bucket === undefined || !isPrefix)
    throw new Error(`"${text}" is no store: expected s3://bucket/prefix, or the path of a folder`);
  const folder = prefix.replace(/\/$/, "");
  const address = folder === "" ? `s3://${bucket}` : `s3://${bucket}/${folder}`;
  return { kind: "s3", text: address, bucket, prefix: folder === "" ? "" : `${folder}/` };
}

/** `s3` is null when only folders are read. */
export function openStore(address: StoreAddress, s3: S3Options | null): ObjectStore {
  if (address.kind === "folder") return new FolderStore(address.text);
  if (s3 === null) throw new Error(`${address.text} cannot be read without S3_ENDPOINT_URL and a key`);
  return new S3Store(address.text, address, s3);
}
