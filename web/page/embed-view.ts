import { listLengths } from "@trendvault/contract/lists";
import { pageUrl } from "@trendvault/contract/page";
import { listView } from "../client/src/view/list-view.ts";
import { fill } from "../client/src/view/locales/locale.ts";
import { dataBlock, h, toHtml, type ViewElement } from "../client/src/view/nodes.ts";
import { headStart, type Page, publicLinks, siteParts, titleOf } from "./page-view.ts";

/** The HTML of a list in a frame of another site. What is opened there opens beside that site. */
export function writeEmbed(page: Page): string {
  return `<!doctype html>${toHtml(h("html", { lang: page.language, dir: page.messages.dir }, headView(page), bodyView(page)))}`;
}

function headView(page: Page): ViewElement {
  const { assets, list, policy } = page;
  return h(
    "head",
    {},
    headStart({ generatedAt: list.generated_at, policy }),
    h("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
    h("meta", { name: "color-scheme", content: "light dark" }),
    h("title", {}, titleOf(page)),
    h("base", { target: "_blank" }),
    h("link", { rel: "stylesheet", href: assets.pageCss }),
    h("link", { rel: "stylesheet", href: assets.embedCss }), // as in a page, before anything is painted
    siteParts.style(page.site),
    publicLinks(page),
    h("script", { type: "module", src: assets.embedJs }),
  );
}

function bodyView(page: Page): ViewElement {
  const { assets, list, language, messages, query, sendsViews, site, thumbHosts } = page;
  const { region, window, category } = query;
  const hosts = thumbHosts.join(" ");
  return h(
    "body",
    { class: "framed" },
    h(
      "main",
      {},
      h("h1", {}, h("a", { href: pageUrl(query) }, titleOf(page))),
      h(
        "trendvault-list",
        {
          ...{ region, window, category, lang: language, limit: listLengths.defaultPage, fields: "chart" },
          ...{ "thumb-hosts": hosts, views: sendsViews, "report-url": site?.report_url },
        },
        h(
          "template",
          { shadowrootmode: "open" },
          h("link", { rel: "stylesheet", href: assets.embedCss }),
          listView(list, { ...page, reportUrl: site?.report_url }),
        ),
        dataBlock("list-data", page.json),
      ),
      h(
        "p",
        { class: "sent" },
        siteParts.links(site ?? {}, messages).flatMap((link) => [link, " · "]),
        sendsViews ? messages.sends : messages.sendsNothing,
        hosts === "" ? null : ` ${fill(messages.foreignThumbs, { hosts: thumbHosts.join(", ") })}`,
      ),
    ),
  );
}
