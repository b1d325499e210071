import { policies } from "@trendvault/contract/page";
import { paths } from "@trendvault/contract/paths";
import { h, toHtml } from "../client/src/view/nodes.ts";
import type { Assets } from "./manifest.ts";
import { headParts } from "./page-view.ts";

/** The HTML of /docs: a shell that Swagger UI fills. Without scripts it links to the description itself. */
export function writeDocs({ pageCss, docsCss, swaggerCss, swaggerJs, docsJs, icon }: Assets): string {
  const head = h(
    "head",
    {},
    headParts.start({ generatedAt: "", policy: policies.docs }),
    h("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
    h("meta", { name: "color-scheme", content: "light dark" }),
    h("title", {}, "TrendVault: the API"),
    [pageCss, swaggerCss, docsCss].map((href) => h("link", { rel: "stylesheet", href })),
    h("link", { rel: "icon", href: icon, type: "image/svg+xml" }),
    h("script", { defer: true, src: swaggerJs }),
    h("script", { type: "module", src: docsJs }), // run after it: both wait for the whole document, in order
  );
  const link = h("a", { href: paths.openapi }, "The description of the API (OpenAPI 3.1)");
  const body = h("body", {}, h("div", { id: "docs" }, h("p", {}, link)));
  return `<!doctype html>${toHtml(h("html", { lang: "en" }, head, body))}`;
}
