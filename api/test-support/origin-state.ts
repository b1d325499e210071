import { parseKeyRing } from "@trendvault/contract/key-ring";
import type { State } from "../src/answer.ts";
import { Store } from "../src/store.ts";
import { tokenSigner } from "../src/token-signer.ts";

export const testKeys = `k1:${"A".repeat(43)}`;
export const testMinute = 29_919_520;

/** The state of an origin over a database file, without a port and without timers. */
export function openState(path: string): State & { close(): void } {
  const store = Store.open(path);
  const generation = store.newestGeneration();
  return {
    edition: generation === null ? null : { generation, minute: testMinute },
    store: () => store,
    signToken: tokenSigner(parseKeyRing(testKeys)),
    pages: new Map(),
    close: () => store.close(),
  };
}
