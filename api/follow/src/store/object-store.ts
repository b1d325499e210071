import { FollowFailure } from "../failure.ts";

/** An object that is being read. `body` gives its bytes as they are stored. */
export type OpenedObject = {
  /** Names this version of it, to ask for another one only; null when the store does not say. */
  etag: string | null;
  /** How far the store's clock is ahead of ours, in seconds; null when it does not say. */
  clockSeconds: number | null;
  body: AsyncIterable<Uint8Array>;
};

export type OpenOptions = {
  signal: AbortSignal;
  /** The version that is known: `unchanged` is the answer when there is no other one. */
  etag?: string | null;
};

/** What can be read of a store. Names are those of contract/pointer.ts, without the prefix. */
export type ObjectStore = {
  /** For messages: the address as it was given. */
  readonly address: string;
  /** Null when there is no such object. @throws FollowFailure */
  open(name: string, options: OpenOptions): Promise<OpenedObject | "unchanged" | null>;
  /** The names of all objects that begin with a text, in no order. @throws FollowFailure */
  list(beginning: string): Promise<string[]>;
};

/** All bytes of a small object. @throws FollowFailure when it has more than `largest` bytes, or cannot be read */
export async function readWhole(
  { body }: OpenedObject,
  { largest, name }: { largest: number; name: string },
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > largest)
      throw new FollowFailure("malformed", `${name} has more than ${largest} bytes: it is none of ours.`);
    chunks.push(chunk);
  }
  return Uint8Array.from(Buffer.concat(chunks));
}
