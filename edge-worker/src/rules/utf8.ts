/** The bytes of a text. They are not shared with another thread, which types of the platform leave open. */
export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>;
}
