import { TrendvaultList } from "./trendvault-list.ts";

const name = "trendvault-list";

/** Defines <trendvault-list>, once for a page; on a server it does nothing. */
export function defineList(): void {
  const { customElements } = globalThis;
  if (customElements !== undefined && customElements.get(name) === undefined) {
    customElements.define(name, TrendvaultList);
  }
}
