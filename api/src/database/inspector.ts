import { regionCodes } from "@trendvault/contract/regions";
import { windows } from "@trendvault/contract/trending-query";
import { DatabaseUnusable, explainSqliteError } from "./errors.ts";
import { Store } from "./store.ts";
import type { WalkedTable } from "./table-walk.ts";

/** What the file says; `reason` is why it cannot be served, or what of it is damaged. `publishedAt` is in Unix seconds. */
export type Inspection = { newest: { id: number; publishedAt: number } | null; reason: string | null };

type Step = (store: Store) => string | number | null;

/**
 * Looks at a database as no process does that has it open: each look opens it afresh, and reads on where the last one
 * stopped, round and round, through all that the origin serves. Use it in a process that has no other connection to it.
 */
export class Inspector {
  readonly #path: string;
  #newest: Inspection["newest"] = null;
  #steps = this.#walk();
  #step: Step | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  /** Reads for about `budgetMs`. What is damaged is read again with every look until it is whole. Never throws. */
  inspect(budgetMs: number): Inspection {
    const until = performance.now() + budgetMs;
    let store: Store | null = null;
    try {
      store = Store.open(this.#path);
      const { id, publishedAt } = store.newestGeneration() ?? {};
      this.#newest = id === undefined || publishedAt === undefined ? null : { id, publishedAt };
      do this.#continue(store);
      while (performance.now() < until);
      return { newest: this.#newest, reason: null };
    } catch (error) {
      return { newest: this.#newest, reason: this.#explain(error) };
    } finally {
      store?.close();
    }
  }

  #continue(store: Store): void {
    this.#step ??= this.#steps.next(null).value ?? null;
    const result = this.#step?.(store) ?? null;
    const next = this.#steps.next(result);
    if (next.done) this.#steps = this.#walk();
    this.#step = next.value ?? null;
  }

  *#walk(): Generator<Step, void, string | number | null> {
    for (const table of ["videos", "velocity", "observations", "trending_by_video"] as const)
      yield* this.#walkTable(table);
    let generation = this.#newest?.id ?? null;
    while (generation !== null) {
      for (const region of regionCodes) {
        for (const window of windows) yield readList(generation, region, window);
      }
      const id: number = generation;
      const before = yield (store) => store.newestGeneration(id)?.id ?? null;
      generation = typeof before === "number" ? before : null;
    }
  }

  *#walkTable(table: WalkedTable): Generator<Step, void, string | number | null> {
    let after: string | number | null = null;
    do {
      const from: string | number | null = after;
      after = yield (store) => store.walk(table, from);
    } while (after !== null);
  }

  #explain(error: unknown): string {
    return error instanceof DatabaseUnusable
      ? error.message
      : `A part of ${this.#path} cannot be read: ${explainSqliteError(error)}`;
  }
}

function readList(generation: number, region: string, window: string): Step {
  return (store) => store.countRanks(generation, region, window);
}
