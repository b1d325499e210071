import { pageParameters } from "@trendvault/contract/paths";

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
