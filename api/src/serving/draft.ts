/** What an answer says, before content coding. */
export type Draft = {
  body: Uint8Array<ArrayBuffer>;
  contentType: string;
  /** For a Link field: the next page (RFC 8288). */
  next: string | null;
};

export function draftText(text: string, contentType: string, next: string | null = null): Draft {
  return { body: new TextEncoder().encode(text), contentType, next };
}

export function isSameDraft(left: Draft, right: Draft): boolean {
  return left.contentType === right.contentType && Buffer.compare(left.body, right.body) === 0;
}
