import type { PublicKeySet } from "@trendvault/contract/keys";
import { freshSeconds, staleSeconds } from "@trendvault/contract/lists";

/** Where the public keys come from. */
export type KeySource = {
  /** The keys that are known. */
  read(): Promise<PublicKeySet>;
  /** The keys as they are now, when an answer names one that is not known; at most once a minute. */
  renew(): Promise<PublicKeySet>;
};

const renewalSeconds = 60;
/** As long as the edge may serve a key set: a key that was taken out of it is not believed for much longer. */
const keptSeconds = freshSeconds + staleSeconds;

/** The keys at an address, kept for twelve minutes. A fetch that failed is done again by the next read. */
export function fetchedKeys(address: string, fetch: (address: string) => Promise<Response>): KeySource {
  let known: Promise<PublicKeySet> | null = null;
  let fetchedAt = 0;
  const fetchKeys = () => {
    fetchedAt = Date.now();
    const keys = readKeys(fetch(address));
    known = keys;
    keys.catch(() => {
      if (known === keys) known = null;
    });
    return keys;
  };
  const isOlderThan = (seconds: number) => Math.abs(Date.now() - fetchedAt) >= seconds * 1000; // or was the clock set back?
  const read = () => (known === null || isOlderThan(keptSeconds) ? fetchKeys() : known);
  return { read, renew: () => (isOlderThan(renewalSeconds) ? fetchKeys() : read()) };
}

/** Keys that the caller has. */
export function pinnedKeys(keys: PublicKeySet): KeySource {
  return { read: async () => keys, renew: async () => keys };
}

async function readKeys(answer: Promise<Response>): Promise<PublicKeySet> {
  const response = await answer;
  if (!response.ok) throw new Error(`Cannot read the public keys: status ${response.status}`);
  const { keys } = (await response.json()) as Partial<PublicKeySet>;
  if (!Array.isArray(keys)) throw new Error("Cannot read the public keys: no JWK set (RFC 7517)");
  return { keys };
}
