import { contentPolicy, pageFields } from "@trendvault/contract/page";
import { aboutPath } from "@trendvault/contract/paths";
import { readAbout } from "./about-resource.ts";
import { textBody } from "./body.ts";
import { forPeople } from "./loaded-later.ts";
import type { HtmlSources } from "./page-resource.ts";
import { fixedContent, type Resource } from "./resource.ts";

/** How the lists are made, for people: the main parameters, in sentences. */
export function aboutPage({
  assets,
  ...sources
}: Pick<HtmlSources, "assets" | "lists" | "thumbHosts">): Resource {
  return {
    url: aboutPath,
    route: "page",
    read: (generation) => {
      const policy = contentPolicy([]);
      const making = readAbout(generation, sources);
      const html = forPeople().writeAbout({ making, assets: assets.paths, policy });
      return fixedContent({ ...textBody(html, "text/html; charset=utf-8"), fields: pageFields({ policy }) });
    },
  };
}
