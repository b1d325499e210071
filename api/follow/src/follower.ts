import { rmSync } from "node:fs";
import { join } from "node:path";
import type { PublicKeySet } from "@trendvault/contract/keys";
import { clockSkewSeconds } from "@trendvault/contract/lists";
import {
  hashPointer,
  longestPointer,
  objectNames,
  type Pointer,
  type PointerReader,
  type VerifiedPointer,
  verifyPointer,
} from "@trendvault/contract/pointer";
import type { Logger } from "../../src/log.ts";
import { FollowFailure } from "./failure.ts";
import { fetchGenerationFile } from "./generation-file.ts";
import { type LocalFile, readRemovals } from "./local-file.ts";
import type { Accepted, Memory } from "./memory.ts";
import type { Metrics } from "./metrics.ts";
import { type ObjectStore, readWhole } from "./stores.ts";

type FollowerParts = {
  store: ObjectStore;
  /** What its writer calls it. */
  storeName: string;
  file: LocalFile;
  memory: Memory;
  readKeys: () => PublicKeySet;
  log: Logger;
  metrics: Metrics;
  /** Unix time in milliseconds. */
  clock: () => number;
};

type FollowerOptions = {
  maxAgeSeconds: number;
  retentionSeconds: number;
  timeoutSeconds: number;
  allowStale: boolean;
};

/** Follows one store: each `poll` asks for its pointer, and adopts what is new. */
export class Follower {
  readonly #parts: FollowerParts;
  readonly #options: FollowerOptions;
  readonly #address: string;
  #etag: string | null = null;
  readonly #log: FollowerLog;
  /** Before which one older generations may be missing in the file; null: before none. */
  #gapsBefore: Pointer | "newest" | null = "newest";

  constructor(parts: FollowerParts, options: FollowerOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#address = parts.store.address;
    this.#log = new FollowerLog(parts);
  }

  /** Whether something was adopted. @throws FollowFailure */
  async poll(signal: AbortSignal): Promise<boolean> {
    const read = await this.#readPointer(signal);
    this.#log.noteRead();
    if (read !== null && (await this.#take(read.bytes, signal))) {
      this.#etag = read.etag;
      return true;
    }
    this.#etag = read?.etag ?? this.#etag;
    const held = this.#parts.memory.accepted(this.#address)?.pointer ?? null;
    this.#log.sayStale(held, this.#options.maxAgeSeconds);
    return this.#fillGaps(signal);
  }

  /** The pointer's bytes, or null when they are those that were read last. */
  async #readPointer(signal: AbortSignal) {
    const opened = await this.#parts.store.open(objectNames.current, {
      signal: this.#limited(signal),
      etag: this.#isHeld() ? this.#etag : null,
    });
    if (opened === "unchanged") return null;
    if (opened === null) {
      const remedy = "Has the writer published, and is the prefix the same?";
      throw new FollowFailure("missing", `${this.#address}/${objectNames.current} is not there. ${remedy}`);
    }
    this.#log.sayClock(opened.clockSeconds);
    const bytes = await readWhole(opened, { largest: longestPointer, name: objectNames.current });
    return { bytes, etag: opened.etag };
  }

  /** Adopts what a pointer names, unless that is held already. */
  async #take(bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<boolean> {
    const { memory, clock } = this.#parts;
    const now = clock();
    const reader = this.#reader();
    const pointer = requireValid(await verifyPointer(bytes, reader), {
      name: `${this.#address}/${objectNames.current}`,
      store: reader.store,
      kids: reader.keys.keys.map(({ kid }) => kid),
    });
    const held = memory.accepted(this.#address);
    const isHeld = this.#isHeld();
    if (judgePointer(pointer, held?.pointer ?? null, { isHeld, now, ...this.#options }) === "current")
      return false;
    const accepted = {
      pointer,
      sha256: await hashPointer(bytes),
      text: new TextDecoder().decode(bytes),
    };
    await this.#adopt(accepted, signal);
    const lineage = compareLineage(pointer, held);
    if (lineage !== "next") this.#gapsBefore = "newest";
    this.#log.sayAdopted(accepted, now);
    if (lineage === "differs") this.#log.sayHistoryDiffers(accepted, held);
    return true;
  }

  #reader(): PointerReader {
    const { readKeys, storeName, clock } = this.#parts;
    return { keys: readKeys(), store: storeName, now: clock() / 1000 };
  }

  /** False, too, while a file that was found damaged waits for a new one. */
  #isHeld(): boolean {
    const { memory, file } = this.#parts;
    const held = memory.accepted(this.#address);
    return held !== null && file.has(held.pointer.generation);
  }

  async #adopt(accepted: Accepted, signal: AbortSignal): Promise<void> {
    const { generation } = accepted.pointer;
    const path = await this.#fetchGeneration(accepted.pointer, signal);
    try {
      const newest = { accepted, removals: readRemovals(path) };
      await this.#parts.file.add({ store: this.#address, newest, files: [{ path, generation }] });
    } finally {
      rmSync(path, { force: true });
    }
  }

  /** Downloads and checks a generation. Gives the path of its file, which the caller deletes. */
  async #fetchGeneration({ generation, file }: Pointer, signal: AbortSignal): Promise<string> {
    const { store, file: local } = this.#parts;
    const path = join(local.workFolder, `${generation}-${file.sha256}.db`);
    const packed = `${path}.gz`;
    try {
      const pointer = { generation, file };
      await fetchGenerationFile(store, pointer, { packed, path, signal: this.#limited(signal) });
      return path;
    } catch (error) {
      rmSync(path, { force: true });
      throw error;
    } finally {
      rmSync(packed, { force: true });
    }
  }

  /** Adds some older generations, which cursors of other machines may name. */
  async #fillGaps(signal: AbortSignal): Promise<boolean> {
    const { store, file, memory } = this.#parts;
    const held = memory.accepted(this.#address);
    if (this.#gapsBefore === null || held === null) return false;
    const before = this.#gapsBefore === "newest" ? held.pointer : this.#gapsBefore;
    this.#gapsBefore = null; // also when this fails: the next generation that does not follow this one looks again
    const gaps = await findGaps(before, {
      store,
      reader: this.#reader(),
      has: (generation) => file.has(generation),
      since: Date.parse(held.pointer.published_at) - this.#options.retentionSeconds * 1000,
      signal: this.#limited(signal),
    });
    const files = await this.#fetchAll(gaps, signal);
    try {
      if (files.length > 0) await file.add({ store: this.#address, newest: null, files });
    } finally {
      for (const { path } of files) rmSync(path, { force: true });
    }
    const isKept = files.length === gaps.length && gaps.every(({ generation }) => file.has(generation));
    if (isKept) this.#gapsBefore = gaps.at(-1) ?? null; // beyond what is thinned or has expired there is nothing
    return files.length > 0;
  }

  /** Ends where the store has no data any more: they are thinned by age. */
  async #fetchAll(pointers: readonly Pointer[], signal: AbortSignal) {
    const files: { path: string; generation: number }[] = [];
    for (const pointer of pointers) {
      try {
        const path = await this.#fetchGeneration(pointer, signal);
        files.push({ path, generation: pointer.generation });
      } catch (error) {
        if (!(error instanceof FollowFailure)) throw error;
        break;
      }
    }
    return files;
  }

  #limited(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, AbortSignal.timeout(this.#options.timeoutSeconds * 1000)]);
  }
}

type GapOptions = {
  store: ObjectStore;
  reader: PointerReader;
  has: (generation: number) => boolean;
  /** Those that were published before, in milliseconds, have expired. */
  since: number;
  signal: AbortSignal;
};

const mostAtOnce = 8; // each comes with its file, and all are on the disk at the same time

/**
 * The newest generations before one that the file should have and does not, along the chain of pointers, newest first.
 * Ends at the first that is too old, or whose pointer is not the one that the next one names.
 */
async function findGaps(before: Pointer, options: GapOptions): Promise<Pointer[]> {
  const gaps: Pointer[] = [];
  let { previous } = before;
  while (previous !== null && gaps.length < mostAtOnce) {
    const pointer = await readPointer(previous, options);
    if (pointer === null || Date.parse(pointer.published_at) < options.since) break;
    if (!options.has(pointer.generation)) gaps.push(pointer);
    previous = pointer.previous;
  }
  return gaps;
}

async function readPointer(
  { generation, sha256 }: { generation: number; sha256: string },
  { store, reader, signal }: GapOptions,
): Promise<Pointer | null> {
  const name = objectNames.pointer(generation);
  const opened = await store.open(name, { signal });
  if (opened === null || opened === "unchanged") return null; // in a pack, of the day before
  const bytes = await readWhole(opened, { largest: longestPointer, name });
  if ((await hashPointer(bytes)) !== sha256) return null;
  const verified = await verifyPointer(bytes, reader);
  return verified.verdict === "valid" ? verified.pointer : null;
}

/** What one follower says in the log and in metrics, each thing once until it changes. */
class FollowerLog {
  readonly #store: string;
  readonly #log: Logger;
  readonly #metrics: Metrics;
  readonly #clock: () => number;
  #isStale = false;
  #saidClockSeconds = 0;

  constructor({
    store,
    log,
    metrics,
    clock,
  }: { store: { address: string }; log: Logger; metrics: Metrics; clock: () => number }) {
    this.#store = store.address;
    this.#log = log;
    this.#metrics = metrics;
    this.#clock = clock;
  }

  noteRead(): void {
    this.#set("read_timestamp_seconds", Math.floor(this.#clock() / 1000));
  }

  /** `startedAt` is in milliseconds. */
  sayAdopted({ pointer }: Accepted, startedAt: number): void {
    const { generation, published_at, file } = pointer;
    const lag = Math.max(0, (this.#clock() - Date.parse(published_at)) / 1000);
    const build = (this.#clock() - startedAt) / 1000;
    this.#log("info", "adopted", `Generation ${generation} of ${this.#store} is in the file.`, {
      store: this.#store,
      generation,
      lag_seconds: lag,
      build_seconds: build,
      bytes: file.bytes,
    });
    this.#metrics.add("adopted_total", { store: this.#store });
    this.#set("generation", generation);
    this.#set("published_timestamp_seconds", Date.parse(published_at) / 1000);
    this.#set("adopted_timestamp_seconds", Math.floor(this.#clock() / 1000));
    this.#set("lag_seconds", lag);
    this.#set("build_seconds", build);
  }

  /** Both pointers are signed: who has the line can prove it. */
  sayHistoryDiffers(accepted: Accepted, held: Accepted | null): void {
    const message = `${this.#store} has another history than the one that was read here before: see docs/audit.md.`;
    this.#log("error", "history_differs", message, {
      store: this.#store,
      accepted_before: held?.text,
      accepted_now: accepted.text,
    });
  }

  sayStale(held: Pointer | null, maxAgeSeconds: number): void {
    const age = held === null ? 0 : ageSeconds(held, this.#clock());
    const isStale = age > maxAgeSeconds;
    if (isStale && !this.#isStale)
      this.#log(
        "warning",
        "store_stale",
        `${this.#store} has had nothing new for ${age} s: see the writer.`,
        {
          store: this.#store,
          generation: held?.generation,
          age_seconds: age,
        },
      );
    this.#isStale = isStale;
  }

  /** Null when the store does not say. */
  sayClock(clockSeconds: number | null): void {
    if (clockSeconds === null) return;
    this.#set("clock_difference_seconds", clockSeconds);
    const isWrong = Math.abs(clockSeconds) > clockSkewSeconds;
    const isSaid = Math.abs(clockSeconds - this.#saidClockSeconds) <= clockSkewSeconds;
    if (isSaid) return;
    this.#saidClockSeconds = isWrong ? clockSeconds : 0;
    if (!isWrong) return;
    const message = `The clock of ${this.#store} is ${clockSeconds} s ahead of this machine's: set the one that is wrong.`;
    this.#log("warning", "clock_differs", message, {
      store: this.#store,
      difference_seconds: clockSeconds,
    });
  }

  #set(name: Parameters<Metrics["set"]>[0], value: number): void {
    this.#metrics.set(name, { store: this.#store }, value);
  }
}

/** How long ago a pointer was signed, in seconds; below 0 when one of the two clocks is wrong. */
function ageSeconds({ published_at }: Pick<Pointer, "published_at">, now: number): number {
  return Math.floor((now - Date.parse(published_at)) / 1000);
}

/**
 * Whether a pointer that was verified is to be adopted, or is that of what is held already. `held` is the last one that
 * was accepted, null for a reader without memory; `isHeld` says whether its generation is in the local file. `now` is in
 * milliseconds.
 *
 * @throws FollowFailure when it must not be taken
 */
function judgePointer(
  pointer: Pointer,
  held: Pointer | null,
  {
    isHeld,
    now,
    maxAgeSeconds,
    allowStale,
  }: { isHeld: boolean; now: number; maxAgeSeconds: number; allowStale: boolean },
): "adopt" | "current" {
  if (held !== null) {
    refuseOlder(pointer, held);
    return pointer.generation === held.generation && isHeld ? "current" : "adopt";
  }
  const age = ageSeconds(pointer, now);
  if (age <= maxAgeSeconds || allowStale) return "adopt";
  throw new FollowFailure(
    "stale",
    `The pointer of generation ${pointer.generation} is ${age} s old, and nothing newer is known here: expected one of the last ${maxAgeSeconds} s. ` +
      "See whether the writer publishes and the clocks are right; --allow-stale takes it all the same.",
  );
}

function refuseOlder(pointer: Pointer, held: Pointer): void {
  const isOther = pointer.generation === held.generation && pointer.file.sha256 !== held.file.sha256;
  if (pointer.generation > held.generation || (pointer.generation === held.generation && !isOther)) return;
  throw new FollowFailure(
    "older",
    `The store names generation ${pointer.generation}${isOther ? " with another object" : ""}, but ${held.generation} was accepted from it before: ` +
      "somebody put an older pointer back, or the store was restored. The newer one stays; if it is meant, move the database and its .follow file away.",
  );
}

/** @throws FollowFailure for everything but a valid one */
function requireValid<Kind>(
  verified: VerifiedPointer<Kind>,
  { name, store, kids }: { name: string; store: string; kids: string[] },
): Kind {
  if (verified.verdict === "valid") return verified.pointer;
  const known = kids.length === 0 ? "none" : kids.join(", ");
  switch (verified.verdict) {
    case "malformed":
      throw new FollowFailure("malformed", `${name} is no pointer of ours. Who else writes there?`);
    case "other-version":
      throw new FollowFailure(
        "other_version",
        `${name} is of another version: update this program, or the writer if it is older.`,
      );
    case "unknown-key":
      throw new FollowFailure(
        "unknown_key",
        `${name} is signed by a key that is not in FOLLOW_JWKS (known: ${known}). If the writer has a new key, add what writer publication-keys prints.`,
      );
    case "tampered":
      throw new FollowFailure(
        "tampered",
        `${name} was changed after it was signed: see who can write there.`,
      );
    case "other-store":
      throw new FollowFailure(
        "other_store",
        `${name} is signed for another store than ${store}: somebody has copied it there, or the writer has a PUBLISH_NAME, which FOLLOW_NAMES must name.`,
      );
    case "from-future":
      throw new FollowFailure(
        "from_future",
        `${name} says that it was signed more than ${clockSkewSeconds} s later than it is here: set the clock of this machine, or the writer's.`,
      );
  }
}

/** What history a new pointer has, compared with the one that was accepted before it. */
type Lineage = "next" | "unknown" | "differs";

/** `differs`: the pointer that was accepted here is not the one that this store now has before it. */
function compareLineage(pointer: Pointer, held: { pointer: Pointer; sha256: string } | null): Lineage {
  const { previous } = pointer;
  if (held === null || pointer.generation === held.pointer.generation) return "unknown";
  if (previous === null || previous.generation < held.pointer.generation) return "differs";
  if (previous.generation > held.pointer.generation) return "unknown"; // some were passed over
  return previous.sha256 === held.sha256 ? "next" : "differs";
}
