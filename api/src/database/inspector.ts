import { windows } from "@trendvault/contract/lists";
import { readRegionTable, useRegions } from "@trendvault/contract/regions";
import { DatabaseUnusable, describeContent, explainSqliteError } from "./database-files.ts";
import type { Generation } from "./store.ts";
import { Store } from "./store.ts";

/** What is compared of a generation: which rankings are served, and which are the newest. */
export type GenerationMark = Pick<Generation, "id" | "publishedAt" | "rankings">;

/**
 * What the file says; `reason` is why it cannot be served, or what of it is damaged. `whole` is what its files are, as
 * `describeContent` says it, once all of that was read; else null. `publishedAt` is in Unix seconds.
 */
export type Inspection = { newest: GenerationMark | null; reason: string | null; whole: string | null };

type Step = (store: Store) => string | number | null;

type Steps = Generator<Step, void, string | number | null>;

const intervalMs = 1000;
// Milliseconds of CPU for a look, and at most a list more: the 30 MB of the demo are read in two looks.
const budgetMs = 20;

/** Looks at the database once a second and tells the worker that started it, which ends it when all was read; ends with it. */
export function runInspector(path: string): void {
  const { REGIONS_TABLE: regions = "" } = process.env;
  useRegions(regions === "" ? null : readRegionTable(regions));
  process.on("disconnect", () => process.exit(0));
  process.on("SIGHUP", () => {}); // for the supervisor; a terminal sends it to all
  const inspector = new Inspector(path);
  const look = async () => {
    process.send?.((await inspector.inspect(budgetMs)) satisfies Inspection);
    setTimeout(look, intervalMs);
  };
  void look();
}

/**
 * Looks at a database as no process does that has it open: each look opens it afresh, and reads on where the last one
 * stopped, through all that the origin serves, until all was read since something has written to it. Use it in a process
 * that has no other connection to the database.
 */
export class Inspector {
  readonly #path: string;
  #newest: Inspection["newest"] = null;
  #steps: Steps | null = null;
  #step: Step | null = null;
  /** What the files were as this round began, and as the last one began that has come to its end. */
  #contentAtStart = "";
  #wasWhole = "";

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Reads on for so many milliseconds of CPU. What is damaged is read again with every look until it is whole. Never
   * throws.
   */
  async inspect(budgetMs: number): Promise<Inspection> {
    const content = await describeContent(this.#path);
    let store: Store | null = null;
    try {
      const until = usedCpuMs() + budgetMs;
      store = Store.open(this.#path);
      this.#newest = markGeneration(store.newestGeneration());
      while (content !== this.#wasWhole) {
        this.#continue(store, content);
        if (usedCpuMs() >= until) break;
      }
      const whole = content === this.#wasWhole ? content : null;
      return { newest: this.#newest, reason: null, whole };
    } catch (error) {
      return { newest: this.#newest, reason: this.#explain(error), whole: null };
    } finally {
      store?.close();
    }
  }

  #continue(store: Store, content: string): void {
    if (this.#steps === null) {
      this.#contentAtStart = content;
      this.#steps = this.#readAll();
      this.#step = this.#steps.next(null).value ?? null;
    }
    const next = this.#steps.next(this.#step?.(store) ?? null);
    this.#step = next.value ?? null;
    if (!next.done) return;
    this.#wasWhole = this.#contentAtStart;
    this.#steps = null;
  }

  *#readAll(): Steps {
    const newest = this.#newest?.rankings ?? [];
    for (const table of ["videos", "velocity", "observations"] as const) yield* this.#readTable(table);
    for (const { id } of newest) yield* this.#readTable("trending_by_video", id);
    let generation = Number.MAX_SAFE_INTEGER;
    for (;;) {
      const later = generation;
      const before = yield (store) => store.idBefore(later);
      if (typeof before !== "number") return;
      generation = before;
      yield compareRows(before);
      yield* this.#readLists(before);
    }
  }

  *#readLists(generation: number): Steps {
    for (let region: string | number | null = ""; ; ) {
      const last: string = region;
      region = yield (store) => store.regionAfter(generation, last);
      if (typeof region !== "string") return;
      for (const window of windows) yield readList(generation, region, window);
    }
  }

  *#readTable(table: Parameters<Store["readSlice"]>[0], generation = 0): Steps {
    let after: string | number | null = null;
    do {
      const from: string | number | null = after;
      after = yield (store) => store.readSlice(table, { after: from, generation });
    } while (after !== null);
  }

  #explain(error: unknown): string {
    return error instanceof DatabaseUnusable
      ? error.message
      : `A part of ${this.#path} cannot be read: ${explainSqliteError(error)}`;
  }
}

/** What is compared of a generation; null without one. */
export function markGeneration(generation: Generation | null): GenerationMark | null {
  if (generation === null) return null;
  const { id, publishedAt, rankings } = generation;
  return { id, publishedAt, rankings };
}

// Not the time that passes: while other programs take the processor, next to nothing would be read.
function usedCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function compareRows(generation: number): Step {
  return (store) => {
    store.requireSameRows(generation);
    return null;
  };
}

function readList(generation: number, region: string, window: string): Step {
  return (store) => {
    store.countRanks(generation, region, window);
    return null;
  };
}
