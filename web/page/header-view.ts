import { type PageQuery, pageUrl } from "@trendvault/contract/page";
import { type Region, regions } from "@trendvault/contract/regions";
import { h, type ViewElement } from "../client/src/view/nodes.ts";
import type { Shell } from "./page-model.ts";

const windows = ["now", "day", "week"] as const;

/** What is shown, and the pickers: links and a form that work without scripts. Each link is a canonical URL. */
export function headerView(shell: Shell): ViewElement {
  const { query, words, formats } = shell;
  return h(
    "header",
    { class: "header", id: "header" },
    h("a", { class: "skip", href: "#list" }, words.toList), // here, since what is in no landmark is not found by it
    h(
      "div",
      { class: "top" },
      h("h1", {}, words.trending, " ", h("span", { class: "where" }, formats.regionName(query.region))),
      regionForm(shell),
    ),
    windowLinks(shell),
    categoryLinks(shell),
  );
}

/** The same list in another window, category or language; a page of another list begins at the top. */
function linkTo({ query }: Shell, changes: Partial<PageQuery>): string {
  return pageUrl({ ...query, cursor: undefined, ...changes });
}

type NamedRegion = { code: string; name: string };
const sorted = new WeakMap<readonly Region[], Map<string, NamedRegion[]>>();

/** The regions by their names in a language, sorted once: a page has them all. */
function sortedRegions({ language, formats }: Shell): NamedRegion[] {
  const byLanguage = sorted.get(regions) ?? new Map<string, NamedRegion[]>();
  sorted.set(regions, byLanguage);
  const known = byLanguage.get(language);
  if (known !== undefined) return known;
  const named = regions.map(({ code }) => ({ code, name: formats.regionName(code) }));
  named.sort((left, right) => left.name.localeCompare(right.name, language));
  byLanguage.set(language, named);
  return named;
}

function regionForm(shell: Shell): ViewElement {
  const { query, words } = shell;
  const options = sortedRegions(shell).map(({ code, name }) =>
    h("option", { value: code, selected: code === query.region }, name),
  );
  const kept = Object.entries({ window: query.window, category: query.category, lang: query.lang });
  return h(
    "form",
    { class: "region", action: "/", method: "get" },
    h(
      "label",
      {},
      h("span", { class: "hidden" }, words.region),
      h("select", { name: "region", autocomplete: "off" }, options),
    ),
    kept.map(([name, value]) =>
      value === undefined || value === "day" ? null : h("input", { type: "hidden", name, value }),
    ),
    h("button", { type: "submit" }, words.show),
  );
}

function windowLinks(shell: Shell): ViewElement {
  const { query, words } = shell;
  const links = windows.map((window) =>
    pickLink(words.windows[window], linkTo(shell, { window }), window === query.window),
  );
  return h("nav", { class: "windows", "aria-label": words.window }, links);
}

function categoryLinks(shell: Shell): ViewElement | null {
  const { query, words, categories } = shell;
  if (categories.length === 0) return null;
  const all = pickLink(
    words.allCategories,
    linkTo(shell, { category: undefined }),
    query.category === undefined,
  );
  const links = categories.map((category) =>
    pickLink(category, linkTo(shell, { category }), category === query.category),
  );
  return h("nav", { class: "categories", "aria-label": words.category }, all, links);
}

function pickLink(name: string, href: string, isCurrent: boolean): ViewElement {
  return h("a", { href, "data-pick": true, "aria-current": isCurrent ? "true" : null, dir: "auto" }, name);
}
