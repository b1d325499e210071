import type { Revalidator } from "./revalidator.ts";
import type { TieredCache } from "./tiered-cache.ts";

/** What the requests of one isolate share. `clock` gives Unix seconds. */
export type EdgeServices = { cache: TieredCache; revalidator: Revalidator; clock: () => number };
