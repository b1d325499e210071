import { isStoreName } from "@trendvault/contract/pointer";
import type { StoreAddress } from "./open-store.ts";

/** A store, with what its writer calls it in the pointers. */
export type NamedStore = StoreAddress & { name: string };

/**
 * Gives each store its name: of `setting`, which has one for each, comma-separated; without it a bucket and prefix are
 * the name, as at the writer. @throws Error that says what was expected
 */
export function nameStores(stores: readonly StoreAddress[], setting: string | undefined): NamedStore[] {
  const names = setting === undefined ? stores.map(usualName) : setting.split(",").map((name) => name.trim());
  if (names.length !== stores.length)
    throw new Error(`FOLLOW_NAMES: expected a name for each of ${stores.length} stores, comma-separated`);
  return stores.map((store, index) => ({ ...store, name: requireName(store, names[index]) }));
}

/** @throws Error */
export function requireName(store: StoreAddress, name = usualName(store)): string {
  if (isStoreName(name)) return name;
  const what = name === "" ? `${store.text} has no name of its own` : `"${name}" is no store's name`;
  throw new Error(
    `FOLLOW_NAMES (bin/verify-history: --name): ${what}: expected PUBLISH_NAME of its writer, or what follows s3:// in its PUBLISH_URL`,
  );
}

/** "" for a folder: who reads a copy has to say of what. */
function usualName(store: StoreAddress): string {
  return store.kind === "s3" ? store.text.slice("s3://".length) : "";
}
