/** What only pages and feeds need: words of eleven languages, templates, the XML writer. Loaded with the first of them. */
export { ownRegions, useRegions } from "@trendvault/contract/regions";
export { writeAbout } from "@trendvault/page/about-view";
export { writeDocs } from "@trendvault/page/docs-view";
export { writeFeed } from "./feed-writing.ts";
export { writeHtmlPage } from "./page-rendering.ts";
