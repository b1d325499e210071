import type { Pointer } from "@trendvault/contract/pointer";
import type { TestPublisher } from "./test-publisher.ts";
import type { TestStore } from "./test-store.ts";

/** Something that goes wrong after a generation was adopted, before the next one is. */
export type StoreFault = {
  name: string;
  /** What the follower says. */
  reason: string;
  /** What happens to the store after the next generation was put into it; or how that one is published. */
  happen: (context: { store: TestStore; publisher: TestPublisher; before: Pointer }) => Promise<void> | void;
  /** Whether the next generation itself is bad: then only the one after it can be adopted. */
  isInObject?: true;
};
