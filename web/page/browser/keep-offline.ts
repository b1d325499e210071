import { serviceWorkerPath } from "@trendvault/contract/paths";
import { keptAddress, offlineCache } from "../service-worker-names.ts";

type Policy = { createScriptURL(url: string): string };
type Factory = { createPolicy(name: string, rules: Policy): Policy };

/** Keeps what the page needs to be shown without a network: itself and its assets, the same for everybody. */
export async function keepOffline(): Promise<void> {
  if (!("serviceWorker" in navigator)) return;
  const { trustedTypes } = globalThis as { trustedTypes?: Factory };
  const policy = trustedTypes?.createPolicy("trendvault", { createScriptURL: () => serviceWorkerPath });
  await navigator.serviceWorker.register(policy?.createScriptURL("") ?? serviceWorkerPath);
  // This page came before the worker was there.
  const cache = await caches.open(offlineCache);
  const loaded = performance.getEntriesByType("resource").map(({ name }) => name);
  const assets = loaded.filter((url) => url.startsWith(`${location.origin}/assets/`));
  for (const url of new Set([keptAddress(location.href), ...assets])) {
    if ((await cache.match(url)) === undefined) await cache.add(url);
  }
}
