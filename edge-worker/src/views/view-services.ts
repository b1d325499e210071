import type { KeyRing } from "@trendvault/contract/keys";
import type { Logger } from "../log/logger.ts";
import type { CountingServices } from "./count-views.ts";
import type { ServedLists } from "./served-lists.ts";
import type { ViewShards } from "./view-shards.ts";

/** What counting shares between the requests of one isolate. `clock` gives Unix seconds. */
export type ViewServices = {
  counting: CountingServices;
  served: ServedLists;
  shards: ViewShards;
  /** Whose pulls are answered. */
  pullKeys: KeyRing;
  clock: () => number;
  log: Logger;
};
