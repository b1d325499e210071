import type { Transform } from "node:stream";
import { crossOriginFields, entityTag } from "@trendvault/contract/http";
import type { AnswerKeyPurpose } from "@trendvault/contract/keys";
import { answerSeconds, edgeLifetimes } from "@trendvault/contract/lists";
import { describeProblem, problemContentType, problems } from "@trendvault/contract/problem";
import {
  readSignedFields,
  type SignatureFields,
  type SignedFields,
  signatureOver,
} from "@trendvault/contract/signature-base";
import { type Body, digestOf, jsonBody, notStoredFields, type Refusal } from "../resources/resource.ts";
import type { SigningKeys } from "../signing.ts";
import { Answer, detached } from "./answer.ts";

/** Bytes that a key has to sign. */
type SigningRequest = { purpose: AnswerKeyPurpose; bytes: Uint8Array<ArrayBuffer> };
type Signature = Uint8Array<ArrayBuffer>;

/** What is made around signatures: it yields what has to be signed. */
export type Signing<T> = Generator<SigningRequest, T, Signature>;

/** The end of a step: whoever waits for what is in the cache may be answered before the next one. */
export const endOfStep = Symbol("end of step");

/**
 * What is built in steps and around signatures: it yields where a step ends, and what has to be signed, or is so long
 * that it is coded in parts, whether that is waited for or not. What `yield` gives after the end of a step means nothing.
 */
export type SignedBuild<T> = Generator<SigningRequest | CodingRequest | typeof endOfStep, T, Signature>;

type Finishing = { keys: SigningKeys; yieldTurn: () => Promise<void> };

/** A step whenever `yieldTurn` resolves; signs, and codes what is long, in another thread. */
export async function finish<T>(build: SignedBuild<T>, { keys, yieldTurn }: Finishing): Promise<T> {
  let step = build.next();
  while (!step.done) {
    if (step.value === endOfStep) {
      await yieldTurn();
      step = build.next(nothing);
    } else if ("encoding" in step.value) step = build.next(await encodeInParts(step.value));
    else step = build.next(await keys[step.value.purpose].sign(step.value.bytes));
  }
  return step.value;
}

const nothing: Signature = new Uint8Array();

/**
 * A body in one content coding, ready to be sent any number of times: as 200 and as 304. `bytes` is its length,
 * `signedAt` and `endsAt` are Unix times in seconds.
 */
export type Representation = {
  etag: string;
  ok: Answer;
  notModified: Answer;
  bytes: number;
  signedAt: number;
  endsAt: number;
  /** "small" also when there is no difference. */
  compression: Compression;
};

/** What does not exist: an answer, but not one to be kept. */
export class SignedRefusal {
  readonly answer: Answer;

  constructor(answer: Answer) {
    this.answer = answer;
  }
}

/** `url` is the canonical one of the resource, `digest` the SHA-256 of the body, `encoding` an index. */
type RepresentationInput = {
  url: string;
  body: Body;
  digest: Buffer;
  encoding: number;
  compression: Compression;
  /** Whether it is coded in parts, while others are answered. */
  isLarge: boolean;
};

const mostMissingPerSecond = 100;
const signatureSeconds = 300; // an edge takes no answer that was signed more than 15 minutes ago

/**
 * Encodes and hashes bodies, and gives them to be signed under the id of a key. `now` gives Unix time in seconds, for
 * the signature.
 */
export class RepresentationFactory {
  readonly #kid: string;
  readonly #now: () => number;

  #missing = { second: 0, signed: 0 };

  constructor(kid: string, now: () => number) {
    this.#kid = kid;
    this.#now = now;
  }

  *create({
    url,
    body,
    digest,
    encoding: index,
    ...wanted
  }: RepresentationInput): SignedBuild<Representation> {
    const encoding = encodings[index] ?? "identity";
    const { bytes } = body;
    const compression = hasOneForm({ bytes, encoding }) ? "small" : wanted.compression;
    const signedAt = this.#now();
    const form = formOf(encoding, compression);
    const { validators, fields, message } = describe({ url, body, digest }, signedAt, form);
    const coding = encoding === "identity" ? {} : { "content-encoding": encoding };
    const coded = yield* code({ bytes, encoding, compression }, wanted.isLarge);
    const signature = yield* this.#sign(message, signedAt);
    const ofBody = { ...linkTo(body.next), ...body.fields, ...fields, ...coding, ...signature };
    return {
      etag: validators.etag,
      ok: new Answer(200, { ...validators, ...ofBody }, coded),
      notModified: new Answer(304, validators, null),
      bytes: coded.length,
      signedAt,
      endsAt: body.endsAt,
      compression,
    };
  }

  /** The signed fields of a 200 whose body is not coded, with their signature. */
  *sign(input: Described): Signing<SignedFields & SignatureFields> {
    const signedAt = this.#now();
    const { message } = describe(input, signedAt);
    return { ...message.fields, ...(yield* this.#sign(message, signedAt)) };
  }

  /**
   * A signed 404, or null when a hundred were signed in this second: a flood of requests for what does not exist costs
   * no more than refusing them. It is not kept, either: the flood would fill the cache.
   */
  *createMissing(url: string, { kind, detail, extras }: Refusal): SignedBuild<SignedRefusal | null> {
    const second = this.#now();
    if (second !== this.#missing.second) this.#missing = { second, signed: 0 };
    if (this.#missing.signed++ >= mostMissingPerSecond) return null;
    const body = jsonBody(JSON.stringify(describeProblem(kind, detail, extras)));
    const digest = digestOf(body);
    const fields = {
      "content-type": problemContentType,
      "unencoded-digest": `sha-256=:${digest.toString("base64")}:`,
      etag: entityTag(digest),
      "content-location": url,
      [edgeLifetimes.field]: edgeLifetimes.missing,
    };
    const { status } = problems[kind];
    const signature = yield* this.#sign({ status, fields }, second);
    const headers = { ...notStoredFields, ...crossOriginFields, ...fields, ...signature };
    return new SignedRefusal(new Answer(status, headers, body.bytes));
  }

  /** The same representation, signed again when its signature is not of the last five minutes. */
  *renew(representation: Representation): SignedBuild<Representation> {
    const signedAt = this.#now();
    const age = signedAt - representation.signedAt; // below 0 where the clock was set back: an edge takes none of the future
    if (age >= 0 && age < signatureSeconds) return representation;
    const lifetimes = lifetimesUntil(representation.endsAt, signedAt);
    const ok = representation.ok.with(lifetimes);
    const notModified = representation.notModified.with(lifetimes);
    const signature = yield* this.#sign(
      { status: ok.status, fields: readSignedFields(ok.headers) },
      signedAt,
    );
    return { ...representation, ok: ok.with(signature), notModified, signedAt };
  }

  /** One signature (RFC 9421). `created` is Unix time in seconds. */
  *#sign(message: Parameters<typeof signatureOver>[0], created: number): Signing<SignatureFields> {
    const { base, write } = signatureOver(message, { created, keyid: this.#kid, alg: "ed25519" });
    return write(yield { purpose: "responses", bytes: new TextEncoder().encode(base) });
  }
}

function* code(request: CodingRequest, isLarge: boolean): SignedBuild<Uint8Array<ArrayBuffer>> {
  return isLarge ? yield request : encode(request);
}

type Described = Pick<RepresentationInput, "url" | "body" | "digest">;

/** The fields of a 200: those that a 304 has, too, those of its body, and what is signed of both. */
function describe({ url, body, digest }: Described, now: number, form?: string) {
  const validators = {
    ...lifetimesUntil(body.endsAt, now),
    ...validity,
    etag: entityTag(digest, form),
    "content-location": url,
  };
  const fields = {
    "content-type": body.contentType,
    "unencoded-digest": `sha-256=:${digest.toString("base64")}:`,
  };
  const { etag, [edgeLifetimes.field]: lifetimes } = validators;
  const signed = { ...fields, etag, "content-location": url, [edgeLifetimes.field]: lifetimes };
  return { validators, fields, message: { status: 200, fields: signed } };
}

/**
 * How long an answer may be used. Browsers keep it for half a minute; shared caches longer, and serve it stale while
 * they revalidate or the origin fails (RFC 5861, RFC 9213). No s-maxage: it would switch stale serving off.
 */
const cachedFields = {
  "cache-control": `public, max-age=${answerSeconds.browserFresh}, stale-while-revalidate=${answerSeconds.browserStale}`,
  "cdn-cache-control": `public, ${edgeLifetimes.answer}`,
  [edgeLifetimes.field]: edgeLifetimes.answer as string,
};

/** The same for what may be shown until a time: nothing is used for longer, not even stale. Both are Unix seconds. */
function lifetimesUntil(endsAt: number, now: number): typeof cachedFields {
  const left = Math.max(0, endsAt - now);
  if (left > longestUseSeconds) return cachedFields;
  const shorten = (value: string, fresh: number) =>
    value.replace(
      /(max-age=)?(\d+)/g,
      (_, isFresh = "", most) =>
        isFresh + Math.min(Number(most), isFresh === "" ? Math.max(0, left - fresh) : left),
    );
  const edge = shorten(edgeLifetimes.answer, answerSeconds.fresh);
  return {
    "cache-control": shorten(cachedFields["cache-control"], answerSeconds.browserFresh),
    "cdn-cache-control": `public, ${edge}`,
    [edgeLifetimes.field]: edge,
  };
}

const longestUseSeconds = 90_000; // more than a day and what comes before it

// A 304 has these, too: a cache updates its stored answer with them (RFC 9110, section 15.4.5).
const validity = {
  vary: "Accept-Encoding",
  ...crossOriginFields,
};

function formOf(encoding: Encoding, compression: Compression): string | undefined {
  if (encoding === "identity") return undefined;
  return compression === "fast" ? `${encoding}-fast` : encoding;
}

function linkTo(next: string | null): { link?: string } {
  return next === null ? {} : { link: `<${next}>; rel="next"` };
}

/** Content codings in the order of preference; a representation is found by the index here. */
const encodings = ["identity", "br", "zstd", "gzip"] as const;
type Encoding = (typeof encodings)[number];

export const identity = 0;
const preferred = [1, 2, 3, identity];

/**
 * The index of the coding to answer with, or null when the client refuses all of them (RFC 9110, section
 * 12.5.3). Highest q-value first; ours decides among equals. A malformed element is ignored.
 */
function chooseEncoding(header: string | null): number | null {
  if (header === null || header === "") return identity;
  const weights = readWeights(header);
  let best: number | null = null;
  let bestWeight = 0;
  for (const index of preferred) {
    const weight = weightOf(index, weights);
    if (weight > bestWeight) {
      best = index;
      bestWeight = weight;
    }
  }
  return best;
}

/** chooseEncoding that remembers: browsers send a handful of different headers. Bounded, since clients choose them. */
export function memoizedChooseEncoding(capacity = 64): (header: string | null) => number | null {
  const known = new Map<string, number | null>();
  return (header) => {
    if (header === null) return identity;
    const remembered = known.get(header);
    if (remembered !== undefined) return remembered;
    const chosen = chooseEncoding(header);
    if (known.size >= capacity) known.clear();
    if (header.length <= 200) known.set(detached(header), chosen);
    return chosen;
  };
}

const element = /^([A-Za-z0-9!#$%&'*+.^_`|~-]+)(?:[ \t]*;[ \t]*q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?))?$/i;

function readWeights(header: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const part of header.split(",")) {
    const match = element.exec(part.trim());
    if (match === null) continue;
    const name = (match[1] ?? "").toLowerCase();
    weights.set(name === "x-gzip" ? "gzip" : name, match[2] === undefined ? 1 : Number(match[2]));
  }
  return weights;
}

// Unlisted, identity stays acceptable unless * excludes it, but after every coding that the header names.
function weightOf(index: number, weights: Map<string, number>): number {
  const named = weights.get(encodings[index] ?? "");
  if (named !== undefined) return named;
  const any = weights.get("*");
  if (index !== identity) return any ?? 0;
  return any === 0 ? 0 : Number.MIN_VALUE;
}

/** Fast, for a request that waits, or as small as is worth it, for what is built ahead. */
type Compression = "fast" | "small";

/** A body that has to be coded. */
type CodingRequest = { bytes: Uint8Array<ArrayBuffer>; encoding: Encoding; compression: Compression };

/** Codes a body at once. */
function encode({ bytes, encoding, compression }: CodingRequest): Uint8Array<ArrayBuffer> {
  switch (encoding) {
    case "identity":
      return bytes;
    case "br":
      return compressBrotli(bytes, isLong(bytes) ? "fast" : compression);
    case "zstd":
      return new Uint8Array(Bun.zstdCompressSync(bytes, { level: zstdLevel }));
    case "gzip":
      return Bun.gzipSync(bytes, { level: gzipLevel, library: "libdeflate" });
  }
}

/** Codes a body a part at a time, in another thread. Its bytes are not those of `encode`. */
async function encodeInParts({ bytes, encoding }: CodingRequest): Promise<Uint8Array<ArrayBuffer>> {
  if (encoding === "identity") return bytes;
  const coder = createCoder(encoding, bytes.length);
  const coded = coder.toArray() as Promise<Uint8Array[]>;
  for (let start = 0; start < bytes.length; start += partBytes) {
    coder.write(bytes.subarray(start, start + partBytes));
  }
  coder.end();
  return new Uint8Array(Buffer.concat(await coded));
}

/** Whether there is one form of a body in a coding, whatever the compression: all but brotli are fast enough. */
function hasOneForm({ bytes, encoding }: Pick<CodingRequest, "bytes" | "encoding">): boolean {
  return encoding !== "br" || isLong(bytes);
}

const partBytes = 65_536; // a millisecond of a thread, in the slowest coding

// The next level of each saves less than 2 % of a page of 24 items and costs as much again.
const zstdLevel = 3;
const gzipLevel = 6;

// A page of 25 in 64 and 166 us; the smaller is smaller by an eighth.
const brotliQuality: Record<Compression, number> = { fast: 2, small: 5 };

// More takes a quarter of a second at a stretch: the script of /docs, 1.7 MB, is smaller by a tenth then.
const largestCompressedWell = 262_144; // bytes

function isLong({ length }: Uint8Array): boolean {
  return length > largestCompressedWell;
}

// Loaded with the first use: it would take 6 ms of the start.
function loadZlib(): typeof import("node:zlib") {
  return require("node:zlib");
}

function compressBrotli(bytes: Uint8Array<ArrayBuffer>, compression: Compression): Uint8Array<ArrayBuffer> {
  const params = brotliParameters(bytes.length, compression);
  return new Uint8Array(loadZlib().brotliCompressSync(bytes, { params }));
}

function brotliParameters(length: number, compression: Compression): Record<number, number> {
  const { constants } = loadZlib();
  return {
    [constants.BROTLI_PARAM_QUALITY]: brotliQuality[compression],
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_LGWIN]: 16, // 64 KB hold any page; the default takes 4 MB of memory for a moment
    [constants.BROTLI_PARAM_SIZE_HINT]: length,
  };
}

function createCoder(encoding: Exclude<Encoding, "identity">, length: number): Transform {
  const { constants, createBrotliCompress, createGzip, createZstdCompress } = loadZlib();
  switch (encoding) {
    case "br":
      return createBrotliCompress({ params: brotliParameters(length, "small") });
    case "zstd":
      return createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: zstdLevel } });
    case "gzip":
      return createGzip({ level: gzipLevel });
  }
}
