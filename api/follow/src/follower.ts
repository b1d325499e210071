import { rmSync } from "node:fs";
import { join } from "node:path";
import type { PublicKeySet } from "@trendvault/contract/keys";
import {
  currentName,
  generationName,
  hashPointer,
  longestPointer,
  type Pointer,
  type PointerReader,
  verifyPointer,
} from "@trendvault/contract/pointer";
import type { LocalFile } from "./database/local-file.ts";
import type { Accepted, Memory } from "./database/memory.ts";
import { readRemovals } from "./database/removals.ts";
import { FollowFailure } from "./failure.ts";
import { findGaps } from "./find-gaps.ts";
import { FollowerLog } from "./follower-log.ts";
import { compareLineage, judgePointer, requireValid } from "./judge-pointer.ts";
import type { Logger } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { checkGenerationFile } from "./object/check-file.ts";
import { downloadObject } from "./object/download.ts";
import { unpack } from "./object/unpack.ts";
import { type ObjectStore, readWhole } from "./store/object-store.ts";

export type FollowerParts = {
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

export type FollowerOptions = {
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
  /** Whether older generations than the newest may be missing in the file. */
  #mayHaveGaps = true;

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
    const opened = await this.#parts.store.open(currentName, {
      signal: this.#limited(signal),
      etag: this.#isHeld() ? this.#etag : null,
    });
    if (opened === "unchanged") return null;
    if (opened === null) {
      const remedy = "Has the writer published, and is the prefix the same?";
      throw new FollowFailure("missing", `${this.#address}/${currentName} is not there. ${remedy}`);
    }
    this.#log.sayClock(opened.clockSeconds);
    const bytes = await readWhole(opened, { largest: longestPointer, name: currentName });
    return { bytes, etag: opened.etag };
  }

  /** Adopts what a pointer names, unless that is held already. */
  async #take(bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<boolean> {
    const { memory, clock } = this.#parts;
    const now = clock();
    const reader = this.#reader();
    const pointer = requireValid(await verifyPointer(bytes, reader), {
      name: `${this.#address}/${currentName}`,
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
    if (lineage !== "next") this.#mayHaveGaps = true;
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
      const name = generationName({ generation, sha256: file.sha256 });
      await downloadObject(store, { name, ...file }, { path: packed, signal: this.#limited(signal) });
      await unpack(packed, path);
      checkGenerationFile(path, generation);
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
    if (!this.#mayHaveGaps || held === null) return false;
    this.#mayHaveGaps = false; // also when this fails: the next generation that does not follow this one looks again
    const gaps = await findGaps(held.pointer, {
      store,
      reader: this.#reader(),
      has: (generation) => file.has(generation),
      retentionSeconds: this.#options.retentionSeconds,
      signal: this.#limited(signal),
    });
    const files = await this.#fetchAll(gaps, signal);
    try {
      if (files.length > 0) await file.add({ store: this.#address, newest: null, files });
    } finally {
      for (const { path } of files) rmSync(path, { force: true });
    }
    const isKept = files.length === gaps.length && gaps.every(({ generation }) => file.has(generation));
    this.#mayHaveGaps = files.length > 0 && isKept; // beyond what is thinned or has expired there is nothing
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
