import type { PublicKeySet } from "@trendvault/contract/keys";
import { edgeLifetimes, isFromFuture } from "@trendvault/contract/lists";
import { feedTypes, pageFields, readPageHead, workerPolicy } from "@trendvault/contract/page";
import { paths } from "@trendvault/contract/paths";
import { exportType } from "@trendvault/contract/queries";
import { verifySignature } from "@trendvault/contract/response-signature";
import { type CanonicalRequest, mayBeMissing, readLifetimes } from "./policy.ts";

/**
 * What the origin has signed, and nothing else: neither a field nor a byte in it can be another's.
 * Times are Unix seconds.
 */
export type SignedAnswer = {
  status: 200 | 404;
  body: string;
  /** The signed fields, the origin's signature, and a link to the next page, which comes from the body. */
  headers: Record<string, string>;
  lifetimes: NonNullable<ReturnType<typeof readLifetimes>>;
  /** When the ranking was made that the body comes from; null when the body does not say that. */
  generatedAt: number | null;
  /** When the origin signed it. */
  created: number;
};

/** An answer as it was received, whole; nothing in it has been validated. */
export type ReceivedAnswer = { status: number; headers: Headers; body: Uint8Array<ArrayBuffer> };

/** Reads the origin's answer to a request, or says why it is none. How old it may be, is for the caller to judge. */
export async function readAnswer(
  received: ReceivedAnswer,
  { canonical, keys, now }: { canonical: CanonicalRequest; keys: PublicKeySet; now: number },
): Promise<SignedAnswer | string> {
  const { status } = received;
  if (status !== 200 && !(status === 404 && mayBeMissing(canonical))) return `status ${status}`;
  const verified = await verifySignature(withStrongEntityTag(received), keys);
  if (verified.verdict !== "valid") return `its signature is not valid: ${verified.verdict}`;
  const { fields, signatureFields, created } = verified;
  if (isFromFuture(created, now)) return "it was signed in the future";
  if (fields["content-location"] !== canonical.target) return "it is the answer to another request";
  if (!contentTypes.test(fields["content-type"])) return "it is of another type";
  const lifetimes = readLifetimes(fields[edgeLifetimes.field]);
  if (lifetimes === null) return "it may not be stored";
  const body = new TextDecoder().decode(received.body);
  const content = readContent(body, fields["content-type"], canonical.target);
  if (content === null) return "it is not JSON";
  const generatedAt = content.generated_at === undefined ? null : Date.parse(content.generated_at) / 1000;
  if (Number.isNaN(generatedAt)) return "it has no date that can be read";
  const policy =
    canonical.target === paths.serviceWorker ? { "content-security-policy": workerPolicy } : null;
  const headers = { ...content.fields, ...policy, ...fields, ...linkTo(content.next), ...signatureFields };
  return { status, body, headers, lifetimes, generatedAt, created };
}

type JsonFeed = { _trendvault?: { generated_at: string } };
type Content = { generated_at?: string | undefined; next?: unknown; fields?: Record<string, string> };

/** What the origin has: JSON of some kind, exports, feeds, pages of people, and what those load. */
const contentTypes =
  /^(application\/([a-z-]+\+)?json|application\/(x-ndjson|atom\+xml)|image\/svg\+xml|text\/(html|css|javascript|plain|xml); charset=utf-8)$/;

/** What the edge needs to know of a body; null when it is not what it says it is. */
function readContent(body: string, contentType: string, target: string): Content | null {
  if (contentType === feedTypes.atom) return { generated_at: /<updated>([^<]+)/.exec(body)?.[1] };
  if (contentType === feedTypes.json) return (parseJson(body) as JsonFeed | null)?._trendvault ?? null;
  if (contentType === exportType) return parseJson(body.slice(0, body.indexOf("\n"))) as Content | null;
  if (contentType.startsWith("application")) return parseJson(body) as Content | null;
  const head = contentType.startsWith("text/html") ? readPageHead(body) : null;
  return head === null
    ? {}
    : { generated_at: head.generatedAt || undefined, fields: pageFields(head, target) };
}

// A proxy that compresses the response weakens its entity tag; the signature is over the origin's, which is strong.
function withStrongEntityTag({ status, headers, body }: ReceivedAnswer): ReceivedAnswer {
  const strong = new Headers(headers);
  strong.set("etag", (headers.get("etag") ?? "").replace(/^W\//, ""));
  return { status, headers: strong, body };
}

function linkTo(next: unknown): { link?: string } {
  const isPage = typeof next === "string" && /^\/api\/trending\?[!-;=?-~]+$/.test(next);
  return isPage ? { link: `<${next}>; rel="next"` } : {};
}

/**
 * A validated response of the origin, or of a bundle, as plain data: it can be shared between requests, cached and put
 * into KV. Times are Unix seconds.
 */
export type StoredResponse = {
  /** Canonical path and query: what was requested, and the cache key. */
  target: string;
  /** 404: the origin has signed that it does not exist. */
  status: 200 | 404;
  body: string;
  /** The fields that the origin has signed, its signature, and the link to the next page. */
  headers: Record<string, string>;
  /** When the ranking was made that the body comes from. */
  generatedAt: number;
  /** When the origin was asked for it, and this was the newest; of a bundle, when that was rendered. */
  fetchedAt: number;
  lifetimes: NonNullable<ReturnType<typeof readLifetimes>>;
  /** The generation of the bundle that it comes from; the origin's own answers have none. */
  bundle?: number;
};

/** Whether a response comes from a later ranking than another, or from the same one later. */
export function isNewer(response: StoredResponse, than: StoredResponse): boolean {
  if (response.generatedAt !== than.generatedAt) return response.generatedAt > than.generatedAt;
  return response.fetchedAt > than.fetchedAt;
}

/** The value of a JSON text, or null when it is not JSON. Nothing about its shape is known. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The bytes of a text. They are not shared with another thread, which types of the platform leave open. */
export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>;
}
