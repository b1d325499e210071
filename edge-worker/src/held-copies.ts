import { BoundedMap } from "./bounded-map.ts";
import { type Copy, isNewer } from "./copy.ts";
import { absentOnFailure, type Report } from "./report.ts";
import type { SharedCache } from "./shared-cache.ts";
import { SingleFlight } from "./single-flight.ts";

const mostCopies = 512; // of some 10 KB each; an isolate has 128 MB
const longestReadSeconds = 1;

/** What this isolate remembers, in front of what the data centre's isolates share. */
export class HeldCopies {
  readonly #remembered = new BoundedMap<Copy>(mostCopies);
  readonly #reads = new SingleFlight<Copy | null>(longestReadSeconds);
  readonly #shared: SharedCache;
  readonly #report: Report;

  constructor(shared: SharedCache, report: Report) {
    this.#shared = shared;
    this.#report = report;
  }

  /** The copy as this isolate remembers it, else as the data centre holds it. */
  async find(target: string): Promise<Copy | null> {
    return this.#remembered.get(target) ?? this.findShared(target);
  }

  /** The newer of what this isolate remembers and the data centre holds. */
  async findShared(target: string): Promise<Copy | null> {
    const read = () => absentOnFailure(this.#shared.read(target), "cache not read", this.#report);
    const { outcome: shared } = await this.#reads.share(target, read);
    const remembered = this.#remembered.get(target);
    if (shared === null || (remembered !== null && !isNewer(shared, remembered))) return remembered;
    this.#remembered.set(target, shared);
    return shared;
  }

  /** Serves the copy from now on; resolves when the data centre's other isolates have it too. */
  async keep(copy: Copy): Promise<void> {
    this.#remembered.set(copy.target, copy);
    await this.#shared.write(copy);
  }
}
