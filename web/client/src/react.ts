import type { ClassAttributes, HTMLAttributes } from "react";
import {
  defineList,
  type ElementAttributes,
  type ElementListeners,
  type TrendvaultList,
} from "./element/trendvault-list.ts";

type Props = ClassAttributes<TrendvaultList> &
  HTMLAttributes<TrendvaultList> &
  ElementAttributes &
  ElementListeners<"on">;

export type { TrendvaultList, TrendvaultListEvents } from "./element.ts";

/** Importing this defines <trendvault-list> and lets JSX know it. React 19 sets properties and listeners of elements. */
declare module "react" {
  namespace JSX {
    interface IntrinsicElements {
      "trendvault-list": Props;
    }
  }
}

// In this file, not in one that it imports: bundlers keep only what package.json names under sideEffects.
defineList();
