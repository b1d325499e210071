import { windows } from "@trendvault/contract/lists";
import { readRegionTable, useRegions } from "@trendvault/contract/regions";
import { DatabaseUnusable, describeContent, explainSqliteError } from "./database-files.ts";
import type { Generation } from "./store.ts";
import { Store } from "./store.ts";

/** What is compared of a generation: which rankings are served, and which are the newest. */
export type GenerationMark = Pick<Generation, "id" | "publishedAt" | "rankings">;

/** What the file says; `reason` is why it cannot be served, or what of it is damaged. `publishedAt` is in Unix seconds. */
export type Inspection = { newest: GenerationMark | null; reason: string | null };

/** Milliseconds of CPU for a look: until all was read since the last change, and after that. */
type Budget = { afterChangeMs: number; idleMs: number };

type Step = (store: Store) => string | number | null;

type Steps = Generator<Step, void, string | number | null>;

const intervalMs = 1000;
// Milliseconds of CPU for a look, and at most a list more: the 30 MB of the demo are read in two looks.
const budget = { afterChangeMs: 20, idleMs: 0.5 };

/** Looks at the database once a second and tells the supervisor; ends with it. */
export function runInspector(path: string): void {
  const { REGIONS_TABLE: regions = "" } = process.env;
  useRegions(regions === "" ? null : readRegionTable(regions));
  process.on("disconnect", () => process.exit(0));
  process.on("SIGHUP", () => {}); // for the supervisor; a terminal sends it to all
  const inspector = new Inspector(path);
  const look = () => process.send?.(inspector.inspect(budget) satisfies Inspection);
  look();
  setInterval(look, intervalMs);
}

/**
 * Looks at a database as no process does that has it open: each look opens it afresh, and reads on where the last one
 * stopped, round and round, through all that the origin serves: fast after something has written to it, else slowly,
 * for what only the disk has changed. Use it in a process that has no other connection to the database.
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

  /** Reads on. What is damaged is read again with every look until it is whole. Never throws. */
  inspect({ afterChangeMs, idleMs }: Budget): Inspection {
    let store: Store | null = null;
    try {
      const content = describeContent(this.#path);
      const isChanged = content !== this.#wasWhole;
      const until = usedCpuMs() + (isChanged ? afterChangeMs : idleMs);
      store = Store.open(this.#path);
      this.#newest = markGeneration(store.newestGeneration());
      do this.#continue(store, content);
      while (usedCpuMs() < until && !(isChanged && content === this.#wasWhole));
      return { newest: this.#newest, reason: null };
    } catch (error) {
      return { newest: this.#newest, reason: this.#explain(error) };
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
