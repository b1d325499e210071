import type { PageHead } from "@trendvault/contract/page";
import { h, type ViewElement } from "../client/src/view/nodes.ts";

/** How the head of every page begins; contract/page.ts reads it. */
export function headStart({ generatedAt, policy }: PageHead): ViewElement[] {
  return [
    h("meta", { charset: "utf-8" }),
    h("meta", { name: "generated", content: generatedAt }),
    h("meta", { "http-equiv": "content-security-policy", content: policy }),
  ];
}
