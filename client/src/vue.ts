import "./element.ts";
import type { DefineComponent } from "vue";
import type { ElementAttributes, ElementListeners } from "./element/element-attributes.ts";

/**
 * Importing this defines <trendvault-list> and lets templates know it. Vue has to be told that it is an element:
 * `isCustomElement: (tag) => tag === "trendvault-list"` in the compiler's options.
 */
declare module "vue" {
  interface GlobalComponents {
    TrendvaultList: DefineComponent<ElementAttributes & ElementListeners<"on">>;
  }
}
