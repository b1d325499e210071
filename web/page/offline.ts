import { pageParameters, paths } from "@trendvault/contract/paths";

type Policy = { createScriptURL(url: string): string };
type Factory = { createPolicy(name: string, rules: Policy): Policy };

/** Keeps what the page needs to be shown without a network: itself and its assets, the same for everybody. */
export async function keepOffline(): Promise<void> {
  if (!("serviceWorker" in navigator)) return;
  const { trustedTypes } = globalThis as { trustedTypes?: Factory };
  const policy = trustedTypes?.createPolicy("trendvault", { createScriptURL: () => paths.serviceWorker });
  await navigator.serviceWorker.register(policy?.createScriptURL("") ?? paths.serviceWorker);
  // This page came before the worker was there.
  const cache = await caches.open(offlineCache);
  const loaded = performance.getEntriesByType("resource").map(({ name }) => name);
  const assets = loaded.filter((url) => url.startsWith(`${location.origin}/assets/`));
  for (const url of new Set([keptAddress(location.href), ...assets])) {
    if ((await cache.match(url)) === undefined) await cache.add(url);
  }
}

/** The cache of the pages and assets that are shown without a network. Another form of it needs another name. */
export const offlineCache = "trendvault-2";

/** The address that a page is kept under: without what others added to a link, which may name who got it. */
export function keptAddress(address: string): string {
  const url = new URL(address);
  const own = [...url.searchParams].filter(([name]) => pageParameters.includes(name));
  url.search = new URLSearchParams(own).toString();
  url.hash = "";
  return url.href;
}
