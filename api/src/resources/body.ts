/** The body of a 200 before content coding. Made anew when needed: kept, it would double the memory of an answer. */
export type Body = {
  bytes: Uint8Array<ArrayBuffer>;
  contentType: string;
  /** The URL of the next page, for a Link field (RFC 8288); null when there is none. */
  next: string | null;
  /** Further header fields of the 200, which are not signed. */
  fields?: Readonly<Record<string, string>>;
};

export const jsonContentType = "application/json";

/** The body of a text in UTF-8. */
export function textBody(text: string, contentType: string): Body {
  return { bytes: new TextEncoder().encode(text), contentType, next: null };
}

/** The body of a JSON text. */
export function jsonBody(text: string): Body {
  return textBody(text, jsonContentType);
}

/** The SHA-256 of the body, 32 bytes. */
export function digestOf({ bytes }: Body): Buffer {
  return new Bun.CryptoHasher("sha256").update(bytes).digest();
}
