import type { DefineComponent } from "vue";
import { defineList, type ElementAttributes, type ElementListeners } from "./element/trendvault-list.ts";

export type { TrendvaultList, TrendvaultListEvents } from "./element.ts";

/**
 * Importing this defines <trendvault-list> and lets templates know it. Vue has to be told that it is an element:
 * `isCustomElement: (tag) => tag === "trendvault-list"` in the compiler's options.
 */
declare module "vue" {
  interface GlobalComponents {
    TrendvaultList: DefineComponent<ElementAttributes & ElementListeners<"on">>;
  }
}

// In this file, not in one that it imports: bundlers keep only what package.json names under sideEffects.
defineList();
