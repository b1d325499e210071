import { crossOriginFields, entityTag } from "@trendvault/contract/http";
import type { AnswerKeyPurpose } from "@trendvault/contract/keys";
import { lifetimesField, missingLifetimes } from "@trendvault/contract/lists";
import { describeProblem, problemContentType, problems } from "@trendvault/contract/problem";
import {
  readSignedFields,
  type SignatureFields,
  type SignedFields,
  type SignedMessage,
  serializeParameters,
  signatureBase,
  signatureFields,
} from "@trendvault/contract/signature-base";
import {
  type Body,
  cachedFields,
  digestOf,
  jsonBody,
  notStoredFields,
  type Refusal,
} from "../resources/resource.ts";
import type { SigningKeys } from "../signing.ts";
import type { EventLoopYield } from "./build-queue.ts";
import {
  type CodingRequest,
  type Compression,
  type Encoding,
  encode,
  encodeInParts,
  encodings,
  hasOneForm,
} from "./content-coding.ts";

/** Bytes that a key has to sign. */
type SigningRequest = { purpose: AnswerKeyPurpose; bytes: Uint8Array<ArrayBuffer> };
type Signature = Uint8Array<ArrayBuffer>;

/** The end of a step: whoever waits for what is in the cache may be answered before the next one. */
export const endOfStep = Symbol("end of step");

/**
 * What is built in steps and around signatures: it yields where a step ends, and what has to be signed, or is so long
 * that it is coded in parts, whether that is waited for or not. What `yield` gives after the end of a step means nothing.
 */
export type SignedBuild<T> = Generator<SigningRequest | CodingRequest | typeof endOfStep, T, Signature>;

type Finishing = { keys: SigningKeys; yieldTurn: EventLoopYield };

/** A step a turn of the event loop; signs, and codes what is long, in another thread. */
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

/** Everything here and now. @throws Error before the keys were prepared for that */
export function finishNow<T>(build: SignedBuild<T>, keys: SigningKeys): T {
  const [responses, tokens] = [keys.responses.signNow, keys.tokens.signNow];
  if (responses === null || tokens === null)
    throw new Error("Cannot sign at once: the keys are not prepared");
  const signNow = { responses, tokens };
  let step = build.next();
  while (!step.done) {
    if (step.value === endOfStep) step = build.next(nothing);
    else if ("encoding" in step.value) step = build.next(encode(step.value));
    else step = build.next(signNow[step.value.purpose](step.value.bytes));
  }
  return step.value;
}

const nothing: Signature = new Uint8Array();

/**
 * A body in one content coding, ready to be sent any number of times: as 200 and as 304. `bytes` is its length,
 * `signedAt` is Unix time in seconds.
 */
export type Representation = {
  etag: string;
  ok: Response;
  notModified: Response;
  bytes: number;
  signedAt: number;
  /** "small" also when there is no difference. */
  compression: Compression;
};

/** What does not exist: an answer, but not one to be kept. */
export class SignedRefusal {
  readonly response: Response;

  constructor(response: Response) {
    this.response = response;
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
    const { validators, fields, message } = describe({ url, body, digest }, formOf(encoding, compression));
    const coding = encoding === "identity" ? {} : { "content-encoding": encoding };
    const signedAt = this.#now();
    // A Blob is shared by all connections; bytes would be copied for each (12 stalled readers of 16 MB: 202 MB).
    const blob = new Blob([yield* code({ bytes, encoding, compression }, wanted.isLarge)]);
    const signature = yield* this.#sign(message, signedAt);
    return {
      etag: validators.etag,
      ok: new Response(blob, {
        headers: { ...validators, ...linkTo(body.next), ...body.fields, ...fields, ...coding, ...signature },
      }),
      notModified: new Response(null, { status: 304, headers: validators }),
      bytes: blob.size,
      signedAt,
      compression,
    };
  }

  /** The signed fields of a 200 whose body is not coded, with their signature. */
  *sign(input: Described): SignedBuild<SignedFields & SignatureFields> {
    const { message } = describe(input);
    return { ...message.fields, ...(yield* this.#sign(message, this.#now())) };
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
      [lifetimesField]: missingLifetimes,
    };
    const { status } = problems[kind];
    const signature = yield* this.#sign({ status, fields }, second);
    const headers = { ...notStoredFields, ...crossOriginFields, ...fields, ...signature };
    return new SignedRefusal(new Response(body.bytes, { status, headers }));
  }

  /** The same representation, signed again when its signature is more than five minutes old. */
  *renew(representation: Representation): SignedBuild<Representation> {
    const signedAt = this.#now();
    if (signedAt - representation.signedAt < signatureSeconds) return representation;
    const ok = representation.ok.clone() as Response;
    const fields = readSignedFields(ok.headers as Headers);
    const signature = yield* this.#sign({ status: ok.status, fields }, signedAt);
    for (const [name, value] of Object.entries(signature)) ok.headers.set(name, value);
    return { ...representation, ok, signedAt };
  }

  /** One signature (RFC 9421). `created` is Unix time in seconds. */
  *#sign(message: SignedMessage, created: number): SignedBuild<SignatureFields> {
    const parameters = serializeParameters({ created, keyid: this.#kid, alg: "ed25519" });
    const bytes = new TextEncoder().encode(signatureBase(message, parameters));
    return signatureFields(parameters, yield { purpose: "responses", bytes });
  }
}

function* code(request: CodingRequest, isLarge: boolean): SignedBuild<Uint8Array<ArrayBuffer>> {
  return isLarge ? yield request : encode(request);
}

type Described = Pick<RepresentationInput, "url" | "body" | "digest">;

/** The fields of a 200: those that a 304 has, too, those of its body, and what is signed of both. */
function describe({ url, body, digest }: Described, form?: string) {
  const validators = { ...validity, etag: entityTag(digest, form), "content-location": url };
  const fields = {
    "content-type": body.contentType,
    "unencoded-digest": `sha-256=:${digest.toString("base64")}:`,
  };
  const { etag, [lifetimesField]: lifetimes } = validators;
  const signed = { ...fields, etag, "content-location": url, [lifetimesField]: lifetimes };
  return { validators, fields, message: { status: 200, fields: signed } };
}

// A 304 has these, too: a cache updates its stored answer with them (RFC 9110, section 15.4.5).
const validity = {
  ...cachedFields,
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
