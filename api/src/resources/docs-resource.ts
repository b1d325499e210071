import { pageFields } from "@trendvault/contract/page-head";
import { docsPolicy } from "@trendvault/contract/page-policy";
import { docsPath } from "@trendvault/contract/paths";
import { textBody } from "./body.ts";
import type { PageAssets } from "./page-assets.ts";
import { fixedContent, type Resource } from "./resource.ts";

/** The reference of the API, for people: drawn in their browser from /openapi.json. */
export function docsResource(assets: PageAssets): Resource {
  return {
    url: docsPath,
    route: "page",
    read: () => {
      const body = textBody(loadView().writeDocs(assets.paths), "text/html; charset=utf-8");
      return fixedContent({ ...body, fields: pageFields({ policy: docsPolicy }) });
    },
  };
}

// With the first request, not at the start.
function loadView(): typeof import("@trendvault/page/docs-view") {
  return require("@trendvault/page/docs-view");
}
