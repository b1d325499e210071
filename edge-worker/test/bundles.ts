import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { R2Bucket, R2GetOptions } from "@cloudflare/workers-types";
import type { BundleFile } from "@trendvault/contract/bundle-file";
import { bundleNames } from "@trendvault/contract/pointer";
import { keySet, signingKey, tokenSigningKey } from "@trendvault/kit/keys";
import { newFolder } from "@trendvault/kit/machine";
import { TestPublicationSigner, testStoreName } from "@trendvault/kit/signers";
import type { Bucket } from "../src/bundle-store.ts";
import { DocumentSigner } from "../src/document-signer.ts";

const render = join(import.meta.dirname, "../../api/src/render.ts");

/** The writer that signs pointers, and another one that nobody knows. */
export const publisher = await TestPublicationSigner.create();
export const stranger = await TestPublicationSigner.create();

export const edgeSeed = new Uint8Array(randomBytes(32));
/** The seed of a key of the edge, as its secret has it, and how the origin's key set names it. */
export const edgeSigningKey = Buffer.from(edgeSeed).toString("base64url");
export const edgeSigner = await DocumentSigner.create(edgeSeed);

/** The keys that an edge needs that reads bundles, as ORIGIN_JWKS. */
export const bundleKeySet = JSON.stringify({ keys: [...JSON.parse(keySet).keys, publisher.publicKey] });

/** A bundle as the renderer has written it. */
export type Rendered = {
  generation: number;
  signedAt: number;
  file: BundleFile;
  bytes: Uint8Array<ArrayBuffer>;
};

/** Renders the newest generation of a database with the origin's keys. It takes seconds. */
export function renderBundle(databasePath: string, { isDelegating = true } = {}): Rendered {
  const folder = newFolder("edge");
  const output = join(folder, "a.bundle");
  const env = {
    PATH: process.env.PATH,
    SIGNING_KEYS: signingKey,
    TOKEN_SIGNING_KEYS: tokenSigningKey,
    ...(isDelegating && { EDGE_SIGNING_PUBLIC_KEYS: edgeSigner.responseKey.x }),
  };
  const command = ["--no-env-file", render, "--database", databasePath, "--output", output];
  const line = execFileSync("bun", command, { env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const { generation, bytes, index_bytes, sha256, index_sha256 } = JSON.parse(line);
  const rendered = new Uint8Array(readFileSync(output));
  rmSync(folder, { recursive: true });
  const file = { sha256, bytes, index_bytes, index_sha256 };
  return { generation, signedAt: signedAtOf(rendered), file, bytes: rendered };
}

/** The time that the bundle itself has: a program takes seconds to start on a busy machine. See its format. */
function signedAtOf(bundle: Uint8Array<ArrayBuffer>): number {
  const end = bundle.length - 16; // the trailer
  const manifestBytes = new DataView(bundle.buffer, bundle.byteOffset + end).getUint32(4);
  return JSON.parse(new TextDecoder().decode(bundle.subarray(end - manifestBytes, end))).signed_at;
}

/** What the writer of a prefix calls its store; without one the tests' usual name. */
export function storeName(prefix: string): string {
  return prefix === "" ? testStoreName : `trendvault/${prefix.replace(/\/$/, "")}`;
}

/** What a bucket has after a bundle was published, by key: the new objects in the order in which they are written. */
export async function objectsOf(
  { generation, file, bytes }: Rendered,
  { publishedAt = Date.now() / 1000, prefix = "", store = storeName(prefix), signer = publisher } = {},
): Promise<Map<string, Uint8Array<ArrayBuffer>>> {
  const published_at = new Date(publishedAt * 1000).toISOString().replace(/\.\d+Z$/, "Z");
  const unsigned = { store, generation, published_at, bundle: file };
  const pointer = await signer.signBundlePointer(unsigned);
  const names: [string, Uint8Array<ArrayBuffer>][] = [
    [bundleNames.bundle({ generation, sha256: file.sha256 }), bytes],
    [bundleNames.pointer(generation), pointer],
    [bundleNames.current, pointer],
  ];
  return new Map(names.map(([name, object]) => [prefix + name, object]));
}

type Bytes = Uint8Array<ArrayBuffer>;

/** What happens to a read of a bucket instead of it, or to the bytes of its object. */
export type Fault = { read?: () => Promise<never>; bytes?: (bytes: Bytes) => Bytes };

/** A bucket in memory, with as much of R2's binding as the edge uses, and faults. */
export class MemoryBucket implements Bucket {
  readonly objects = new Map<string, Bytes>();
  /** The keys that were read, in order. */
  reads: string[] = [];
  /** What is wrong with a read of a key, if anything is. */
  fault: (key: string) => Fault = () => ({});

  constructor(objects: Iterable<[string, Bytes]> = []) {
    this.put(objects);
  }

  put(objects: Iterable<[string, Bytes]>): void {
    for (const [key, bytes] of objects) this.objects.set(key, bytes);
  }

  get = (async (key: string, options: R2GetOptions = {}) => {
    this.reads.push(key);
    const { read, bytes: change = (bytes: Bytes) => bytes } = this.fault(key);
    if (read !== undefined) return read();
    const stored = this.objects.get(key);
    if (stored === undefined) return null;
    const whole = change(stored);
    const etag = createHash("md5").update(whole).digest("hex");
    const object = { key, etag, size: whole.length };
    const { range, onlyIf } = options as {
      range?: { offset: number; length: number };
      onlyIf?: { etagDoesNotMatch?: string };
    };
    if (onlyIf?.etagDoesNotMatch === etag) return object;
    const part = range === undefined ? whole : whole.slice(range.offset, range.offset + range.length);
    return { ...object, body: new Blob([part]).stream(), arrayBuffer: async () => part.slice().buffer };
  }) as unknown as R2Bucket["get"];
}
