import { mainLanguage, pageUrl } from "@trendvault/contract/page";
import { ownRegions } from "@trendvault/contract/regions";
import { listView } from "../client/src/view/list-view.ts";
import { dataBlock, h, toHtml, type ViewElement } from "../client/src/view/nodes.ts";
import { feedUrlOf, footView } from "./foot-view.ts";
import { headStart } from "./head-start.ts";
import { headerView } from "./header-view.ts";
import type { Page, PageData } from "./page-model.ts";
import { asOfView, moreLink, titleOf } from "./parts-view.ts";

/** The HTML of a page. */
export function writePage(page: Page): string {
  return `<!doctype html>${toHtml(documentView(page))}`;
}

function documentView(page: Page): ViewElement {
  return h(
    "html",
    { lang: page.language },
    headView(page),
    h("body", {}, headerView(page), mainView(page), footView(page)),
  );
}

function headView(page: Page): ViewElement {
  const { assets, list, query } = page;
  const title = titleOf(page);
  return h(
    "head",
    {},
    headStart({ generatedAt: list.generated_at, policy: page.policy }),
    h("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
    h("meta", { name: "color-scheme", content: "light dark" }),
    h("title", {}, title),
    h("link", { rel: "stylesheet", href: assets.pageCss }),
    // Also in the shadow root: loaded here, before anything is painted, nothing moves when it is applied there.
    h("link", { rel: "stylesheet", href: assets.listCss }),
    h("link", { rel: "icon", href: assets.icon, type: "image/svg+xml" }),
    h("link", { rel: "canonical", href: pageUrl(query) }),
    h("link", { rel: "alternate", href: feedUrlOf(page, "json"), type: "application/feed+json", title }),
    h("link", { rel: "alternate", href: feedUrlOf(page, "atom"), type: "application/atom+xml", title }),
    h("script", { type: "module", src: assets.pageJs }),
    assets.pageParts.map((href) => h("link", { rel: "modulepreload", href })),
  );
}

function mainView(page: Page): ViewElement {
  const { words, formats, list, categories, query, sendsViews, thumbHosts } = page;
  const { region, window, category } = query;
  return h(
    "main",
    { id: "list" },
    asOfView(list.generated_at, formats.time(list.generated_at), words),
    h(
      "trendvault-list",
      {
        ...{ region, window, category, lang: page.language, limit: 24, fields: "chart", manual: true },
        ...{ "thumb-hosts": thumbHosts.join(" ") || null, views: sendsViews },
      },
      h(
        "template",
        { shadowrootmode: "open" },
        h("link", { rel: "stylesheet", href: page.assets.listCss }),
        listView(list, page),
      ),
      dataBlock("list-data", page.json),
    ),
    moreLink(list.next, page),
    dataBlock("page-data", JSON.stringify({ categories, thumbHosts, sendsViews, ...ownLanguages() })),
    h("div", { class: "notice", id: "notice", role: "status" }),
  );
}

/** What the page's scripts need of a deployment's own regions: the language of each. The built-in ones are in them. */
function ownLanguages(): Pick<PageData, "languages"> {
  if (ownRegions === null) return {};
  return { languages: Object.fromEntries(ownRegions.regions.map(({ code }) => [code, mainLanguage(code)])) };
}
