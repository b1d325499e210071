import "./element.ts";
import type { ClassAttributes, HTMLAttributes } from "react";
import type { ElementAttributes, ElementListeners } from "./element/element-attributes.ts";
import type { TrendvaultList } from "./element/trendvault-list.ts";

type Props = ClassAttributes<TrendvaultList> &
  HTMLAttributes<TrendvaultList> &
  ElementAttributes &
  ElementListeners<"on">;

/** Importing this defines <trendvault-list> and lets JSX know it. React 19 sets properties and listeners of elements. */
declare module "react" {
  namespace JSX {
    interface IntrinsicElements {
      "trendvault-list": Props;
    }
  }
}
