import { docsPolicy, pageFields } from "@trendvault/contract/page";
import { docsPath } from "@trendvault/contract/paths";
import { textBody } from "./body.ts";
import { forPeople } from "./loaded-later.ts";
import type { PageAssets } from "./page-assets.ts";
import { fixedContent, type Resource } from "./resource.ts";

/** The reference of the API, for people: drawn in their browser from /openapi.json. */
export function docsResource(assets: PageAssets): Resource {
  return {
    url: docsPath,
    route: "page",
    read: () => {
      const body = textBody(forPeople().writeDocs(assets.paths), "text/html; charset=utf-8");
      return fixedContent({ ...body, fields: pageFields({ policy: docsPolicy }) });
    },
  };
}
