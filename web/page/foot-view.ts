import { type FeedForm, feedUrl, mainLanguage, pageUrl } from "@trendvault/contract/page";
import { aboutPath, docsPath } from "@trendvault/contract/paths";
import { h, type ViewElement } from "../client/src/view/nodes.ts";
import { fill, languages } from "../client/src/view/words/words.ts";
import type { Shell } from "./page-model.ts";

/** What is sent and what is not, how the list is made, its feeds, other languages. */
export function footView(shell: Shell): ViewElement {
  const { words, thumbHosts, sendsViews } = shell;
  const hosts = thumbHosts.join(", ");
  return h(
    "footer",
    { class: "foot", id: "foot" },
    h(
      "p",
      { class: "links" },
      h("a", { href: aboutPath }, words.howMade),
      h("a", { href: feedUrlOf(shell, "atom"), type: "application/atom+xml" }, `${words.feed} (Atom)`),
      h("a", { href: feedUrlOf(shell, "json"), type: "application/feed+json" }, `${words.feed} (JSON)`),
      h("a", { href: docsPath }, "API"),
    ),
    h("p", {}, sendsViews ? words.sends : words.sendsNothing, " ", words.noCookies),
    hosts === "" ? null : h("p", {}, fill(words.foreignThumbs, { hosts })),
    languageLinks(shell),
  );
}

/** The feed of a page's list. */
export function feedUrlOf({ query }: Pick<Shell, "query">, form: FeedForm): string {
  return feedUrl({ ...query, form });
}

const ownNames = new Map<string, string>();

/** What a language calls itself, asked once: Intl takes long to make. */
function ownName(language: string): string {
  const known = ownNames.get(language);
  if (known !== undefined) return known;
  const name = new Intl.DisplayNames(language, { type: "language" }).of(language) ?? language;
  ownNames.set(language, name);
  return name;
}

function languageLinks({ query, language, words }: Shell): ViewElement {
  const links = languages.map((lang) => {
    const href = pageUrl({
      ...query,
      cursor: undefined,
      lang: lang === mainLanguage(query.region) ? undefined : lang,
    });
    const current = lang === language ? "true" : null;
    return h("a", { href, "data-pick": true, lang, hreflang: lang, "aria-current": current }, ownName(lang));
  });
  return h("nav", { class: "languages", "aria-label": words.language }, links);
}
