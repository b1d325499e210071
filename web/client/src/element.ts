import { defineList } from "./element/define.ts";
import type { TrendvaultListEvents } from "./element/list-events.ts";
import type { TrendvaultList } from "./element/trendvault-list.ts";

export type { Failure, List, ListState } from "./element/read-list.ts";
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
