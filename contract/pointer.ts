import { fromBase64url, isKeyFor, isSignedBy, type PublicKeySet, toBase64url } from "./keys.ts";
import { isFromFuture } from "./lists.ts";

/**
 * The signed document that names the newest object of a store. One line of JSON, written in one form only, so that it
 * has one hash:
 *
 *     {"version":2,"store":"lists/production","generation":4711,"published_at":"2026-11-22T03:40:00Z",
 *      "file":{"sha256":"…","bytes":4123456},"previous":{"generation":4710,"sha256":"…"},"kid":"Ab3_x-9Z",
 *      "signature":"…"}
 *
 * (without the line breaks). `store` is what the writer calls its store: a pointer that somebody has copied from another
 * one is refused, though the same key has signed it. `previous` is null in the first one, and else has the SHA-256 of the bytes of the pointer
 * before: nobody can rewrite one in between. Signed with Ed25519 (RFC 8032) is a line that says which document this is,
 * then the text before `,"signature":`. Hashes, `kid` and `signature` are base64url without padding.
 */
export type Pointer = {
  version: 2;
  store: string;
  generation: number;
  /** When it was signed: RFC 3339, UTC, in seconds. */
  published_at: string;
  /** The object as stored: after gzip. */
  file: { sha256: string; bytes: number };
  previous: { generation: number; sha256: string } | null;
  /** The first 8 characters of the key's JWK thumbprint (RFC 7638). */
  kid: string;
  signature: string;
};

/** The pointer to the newest bundle of rendered documents. It has no `previous`. */
export type BundlePointer = Omit<Pointer, "file" | "previous"> & {
  /** The last `index_bytes` are its index, and `index_sha256` their hash: what a reader of parts reads first. */
  bundle: { sha256: string; bytes: number; index_bytes: number; index_sha256: string };
};

/** `other-version`: another program wrote it, which this one cannot read. `from-future`: a clock is wrong. */
type PointerVerdict =
  | "valid"
  | "malformed"
  | "other-version"
  | "unknown-key"
  | "tampered"
  | "other-store"
  | "from-future";
export type VerifiedPointer<Kind> =
  | { verdict: "valid"; pointer: Kind }
  | { verdict: Exclude<PointerVerdict, "valid"> };

/**
 * How a store is called in the pointers of its writer, which readers are told: what follows `s3://` in its PUBLISH_URL, or
 * another name of this form that the operator gave it.
 */
const storeNamePattern = "[A-Za-z0-9][A-Za-z0-9._/-]{0,99}";

export function isStoreName(text: string): boolean {
  return new RegExp(`^${storeNamePattern}$`).test(text);
}

export const longestPointer = 500; // bytes

const number = "[1-9][0-9]{0,14}";
const time = "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z";
// The last character of base64url has bits that stand for nothing: an encoder leaves them 0.
const sha256 = "[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]";
const ending = `"kid":"[A-Za-z0-9_-]{8}","signature":"[A-Za-z0-9_-]{85}[AQgw]"`;
const beginning = `"version":2,"store":"${storeNamePattern}","generation":${number},"published_at":"${time}"`;
const otherVersionPattern = /^\{"version":(?!2,)[0-9]{1,9},/;

/** What a document begins with when it is signed, and what it may be. Made when it is used: the edge needs one of two. */
type Form<Kind> = { context: string; pattern: () => RegExp; isPossible(pointer: Kind): boolean };

const pointerForm: Form<Pointer> = {
  context: "trendvault pointer v2\n",
  pattern: () =>
    new RegExp(
      `^{${beginning},"file":{"sha256":"${sha256}","bytes":${number}},"previous":(?:null|{"generation":${number},"sha256":"${sha256}"}),${ending}}$`,
    ),
  isPossible: (pointer) => (pointer.previous?.generation ?? 0) < pointer.generation,
};
const bundlePointerForm: Form<BundlePointer> = {
  context: "trendvault bundle pointer v2\n",
  pattern: () =>
    new RegExp(
      `^{${beginning},"bundle":{"sha256":"${sha256}","bytes":${number},"index_bytes":${number},"index_sha256":"${sha256}"},${ending}}$`,
    ),
  isPossible: (pointer) => pointer.bundle.index_bytes <= pointer.bundle.bytes,
};

/**
 * What a reader goes by. `keys`: those with the purpose `publications` count. `store`: what its writer calls the store
 * that is read. `now`: Unix seconds.
 */
export type PointerReader = { keys: PublicKeySet; store: string; now: number };

/** Reads a pointer and verifies its signature. */
export function verifyPointer(
  bytes: Uint8Array<ArrayBuffer>,
  reader: PointerReader,
): Promise<VerifiedPointer<Pointer>> {
  return verifyDocument(bytes, pointerForm, reader);
}

/** The same for the pointer to a bundle. */
export function verifyBundlePointer(
  bytes: Uint8Array<ArrayBuffer>,
  reader: PointerReader,
): Promise<VerifiedPointer<BundlePointer>> {
  return verifyDocument(bytes, bundlePointerForm, reader);
}

/** What `previous` of the next pointer has. */
export async function hashPointer(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return toBase64url(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}

const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }); // keeps a byte order mark, which the pattern refuses

async function verifyDocument<Kind extends Pointer | BundlePointer>(
  bytes: Uint8Array<ArrayBuffer>,
  form: Form<Kind>,
  { keys, ...reader }: PointerReader,
): Promise<VerifiedPointer<Kind>> {
  const text = bytes.length > longestPointer ? "" : decoder.decode(bytes);
  const pointer = readDocument(text, form);
  if (pointer === null) return { verdict: otherVersionPattern.test(text) ? "other-version" : "malformed" };
  const known = keys.keys.filter((key) => key.kid === pointer.kid && isKeyFor("publications", key));
  if (known.length === 0) return { verdict: "unknown-key" };
  const input = form.context + text.slice(0, text.lastIndexOf(',"signature":'));
  const signature = fromBase64url(pointer.signature) as Uint8Array<ArrayBuffer>; // the pattern has seen it
  for (const key of known) {
    if (await isSignedBy(key, input, signature)) return judgeSigned(pointer, reader);
  }
  return { verdict: "tampered" };
}

function judgeSigned<Kind extends Pointer | BundlePointer>(
  pointer: Kind,
  { store, now }: Pick<PointerReader, "store" | "now">,
): VerifiedPointer<Kind> {
  if (pointer.store !== store) return { verdict: "other-store" };
  if (isFromFuture(Date.parse(pointer.published_at) / 1000, now)) return { verdict: "from-future" };
  return { verdict: "valid", pointer };
}

function readDocument<Kind extends Pointer | BundlePointer>(text: string, form: Form<Kind>): Kind | null {
  if (!form.pattern().test(text)) return null;
  const pointer = JSON.parse(text) as Kind; // of that pattern, it has this type
  return isTime(pointer.published_at) && form.isPossible(pointer) ? pointer : null;
}

/** Whether there is such a time; 2026-02-30 is none. */
function isTime(text: string): boolean {
  const milliseconds = Date.parse(text);
  return !Number.isNaN(milliseconds) && new Date(milliseconds).toISOString() === text.replace("Z", ".000Z");
}

/** An object that never changes is named by its generation and the SHA-256 of its bytes, as base64url. */
type ObjectIdentity = { generation: number; sha256: string };

/** What the objects of a store are called, after its prefix. A store has what one writer publishes. */
export const objectNames = {
  /** The newest pointer: with the newest bundle's, the only object that is ever written anew. */
  current: "current.json",

  pointerFolder: "pointers/",
  packFolder: "pointers/packed/",
  generationFolder: "generations/",

  pointer: (generation: number) => `pointers/${generation}.json`,
  /** The pointers of a finished day (UTC, like 2026-11-22), one a line, in order. */
  pack: (day: string) => `pointers/packed/${day}.jsonl.gz`,
  generation: ({ generation, sha256 }: ObjectIdentity) => `generations/${generation}-${sha256}.db.gz`,
} as const;

/** The same of bundles. It stands apart, so that the edge's bundle has these only. */
export const bundleNames = {
  current: "bundle.json",
  pointer: (generation: number) => `bundles/${generation}.json`,
  bundle: ({ generation, sha256 }: ObjectIdentity) => `bundles/${generation}-${sha256}.bundle`,
} as const;
