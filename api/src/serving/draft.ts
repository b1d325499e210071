/** What an answer says, before content coding. Made anew when needed: kept, it would double every answer. */
export type Draft = {
  body: Uint8Array<ArrayBuffer>;
  contentType: string;
  /** For a Link field: the next page (RFC 8288). */
  next: string | null;
};

export function draftText(text: string, contentType: string, next: string | null = null): Draft {
  return { body: new TextEncoder().encode(text), contentType, next };
}

/** SHA-256. */
export function digestOf({ body }: Draft): Buffer {
  return new Bun.CryptoHasher("sha256").update(body).digest();
}
