import type { Documents } from "../answers/documents.ts";
import type { SignToken } from "../answers/token-signer.ts";
import type { ListReader } from "../database/list-reader.ts";
import type { EdgeGuard } from "../http/edge-guard.ts";
import { rememberedEncoding } from "../http/encodings.ts";
import type { Logger } from "../process/log.ts";
import { BoundedCache } from "./bounded-cache.ts";
import { BuildQueue } from "./build-queue.ts";
import type { Builder } from "./builder.ts";
import type { Counters } from "./counters.ts";
import type { Edition } from "./edition.ts";
import type { Slot } from "./slot.ts";

/** Everything that answering needs. Made once; `edition`, `trouble` and `draining` change. */
export type State = {
  /** Null until something was published. */
  edition: Edition | null;
  /** Whether the next request is to be timed. */
  timeNext: boolean;
  /** While true, every answer closes its connection. */
  draining: boolean;
  /** Slots by URL as it was sent, host included: the whole way of a warm request. Bounded. */
  readonly byUrl: Map<string, Slot>;
  /** Slots by the one URL of their resource. */
  readonly slots: BoundedCache<Slot>;
  readonly queue: BuildQueue;
  readonly chooseEncoding: (header: string | null) => number | null;
  readonly builder: Builder;
  readonly counters: Counters;
  readonly log: Logger;
  /** Null when everybody may ask. */
  readonly guard: EdgeGuard | null;
  readonly lists: ListReader;
  readonly signToken: SignToken;
  readonly documents: Documents;
};

export type Parts = Pick<
  State,
  "builder" | "counters" | "log" | "guard" | "lists" | "signToken" | "documents"
> & { queue?: BuildQueue };

const mostBytes = 9_000_000;
const mostWaiting = 512;

export function createState(parts: Parts): State {
  const byUrl = new Map<string, Slot>();
  const slots = new BoundedCache<Slot>(mostBytes, {
    weigh: (slot) => slot.weight,
    forgot: () => byUrl.clear(),
  });
  const queue = parts.queue ?? new BuildQueue(mostWaiting);
  const chooseEncoding = rememberedEncoding();
  return { ...parts, edition: null, timeNext: false, draining: false, byUrl, slots, queue, chooseEncoding };
}

const mostUrls = 4096;
const longestUrl = 400;

/** Lets the next request with the same URL find its slot without being parsed. */
export function rememberUrl(url: string, slot: Slot, { byUrl }: State): void {
  if (url.length > longestUrl) return;
  if (byUrl.size >= mostUrls) byUrl.clear();
  byUrl.set(url, slot);
}
