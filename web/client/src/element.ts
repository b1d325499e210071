import { defineList, type TrendvaultList, type TrendvaultListEvents } from "./element/trendvault-list.ts";

export type { Failure, List, ListState } from "./element/list-reader.ts";
export { TrendvaultList } from "./element/trendvault-list.ts";
export type { TrendvaultListEvents };

defineList();

type Events = { [Name in keyof TrendvaultListEvents]: CustomEvent<TrendvaultListEvents[Name]> };

declare global {
  interface HTMLElementTagNameMap {
    "trendvault-list": TrendvaultList;
  }
  interface HTMLElementEventMap extends Events {}
}
