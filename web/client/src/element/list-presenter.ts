import { toDom } from "../view/dom.ts";
import listCss from "../view/list.css" with { type: "text" };
import {
  type ListOptions,
  listItems,
  listView,
  placeholder,
  type List as ShownList,
} from "../view/list-view.ts";
import { loadMessages } from "../view/locales/load.ts";
import {
  type Formats,
  fill,
  formatsOf,
  languageOf,
  likelyLanguage,
  type Messages,
} from "../view/locales/locale.ts";
import { h, type ViewNode } from "../view/nodes.ts";
import frameCss from "./frame.css" with { type: "text" };
import type { Failure, List, ReadList } from "./list-reader.ts";

/** What a visitor is told above the list; null when there is nothing to say. */
type NoticeKind = "stale" | "fallback" | "offline" | "unverified" | "failed" | "newer" | "loading" | null;

/** How the element appears: `lang` is its attribute, or null. */
type Appearance = { lang: string | null; thumbHosts: readonly string[] };

type Language = { messages: Messages; formats: Formats };

/** Writes lists and notices in the visitor's language into a shadow root. */
export class ListPresenter {
  readonly #root: ListRoot;
  #language: Language | null = null;
  #thumbHosts: readonly string[] = [];

  constructor(root: ShadowRoot) {
    this.#root = new ListRoot(root);
  }

  /** The elements of the items that are shown, in their order. */
  get items(): Element[] {
    return this.#root.items;
  }

  /** What is shown next appears so. Loads the messages of the language that the page wants, else that of the region. */
  async prepare({ lang, thumbHosts }: Appearance, region: string | null): Promise<void> {
    const language = languageOf(lang === null ? likelyLanguage(region) : (lang.split("-")[0] ?? ""));
    this.#thumbHosts = thumbHosts;
    this.#language = { messages: await loadMessages(language), formats: formatsOf(language) };
  }

  /** Takes away the list that is shown. */
  clear(): void {
    this.#root.clear();
  }

  /** Shows a list in place of what is shown. */
  show(list: List): void {
    this.#root.show(list as ShownList, { ...this.#prepared, thumbHosts: this.#thumbHosts });
  }

  /** Adds the items of a further page. */
  append(list: List): void {
    this.#root.append(list as ShownList, { ...this.#prepared, thumbHosts: this.#thumbHosts });
  }

  /** Says it, with a button for what has an action; `ageSeconds` is that of the list that is shown. */
  notice(kind: NoticeKind, { ageSeconds = 0, run }: { ageSeconds?: number; run?: () => void } = {}): void {
    const { messages, formats } = this.#prepared;
    const action = run && { text: kind === "newer" ? messages.showNewer : messages.retry, run };
    const text = kind === null ? null : fill(messages[kind], { age: formats.ago(ageSeconds) });
    this.#root.say(text === null ? null : { text, ...(action && { action }) });
  }

  /** Says that nothing new could be read: `ageSeconds` is that of the list that is shown, null when there is none. */
  noticeFailure(failure: Failure, { ageSeconds, run }: { ageSeconds: number | null; run: () => void }): void {
    if (failure === "unverified") this.notice("unverified");
    else if (ageSeconds === null) this.notice("failed", { run });
    else this.notice(failure === "offline" ? "offline" : "stale", { ageSeconds });
  }

  /** Says of a list that is shown how old it is, where that is unusual, when it was made, and how. */
  describe({ list, state, ageSeconds }: ReadList, src: string): void {
    this.notice(state === "live" ? null : state, { ageSeconds });
    this.#foot(list, src);
  }

  #foot(list: List, src: string): void {
    const { messages, formats } = this.#prepared;
    const made = fill(messages.listOf, { time: formats.time(list.generated_at) });
    this.#root.showFoot(
      made,
      " · ",
      h("a", { class: "about", part: "about", href: `${src}/about` }, messages.howMade),
    );
  }

  get #prepared(): Language {
    if (this.#language === null) throw new Error("Cannot show anything before prepare()");
    return this.#language;
  }
}

/** A sentence with, perhaps, a button that does something about it. */
type Notice = { text: string; action?: { text: string; run: () => void } };

/** The shadow root of an element: the list, and around it what the element says of itself. */
class ListRoot {
  readonly #root: ShadowRoot;
  #list: Element | null;
  #notice: Element | null = null;
  #foot: Element | null = null;

  /** Keeps what the server rendered into it, with its linked style. */
  constructor(root: ShadowRoot) {
    this.#root = root;
    this.#list = root.querySelector("ol.list, p.empty");
    if (root.querySelector("link[rel=stylesheet]") === null) root.adoptedStyleSheets = [sharedSheet()];
    root.addEventListener("error", replaceThumb, true); // it does not bubble
  }

  /** The elements of the items that are shown, in their order. */
  get items(): Element[] {
    return this.#list === null ? [] : [...this.#list.querySelectorAll(":scope > li")];
  }

  /** Shows a list in place of what is shown. */
  show(list: ShownList, options: ListOptions): void {
    const shown = this.#make(listView(list, options));
    if (this.#list !== null) this.#list.replaceWith(shown);
    else if (this.#foot !== null) this.#foot.before(shown);
    else this.#root.append(shown);
    this.#list = shown;
  }

  /** Takes away the list that is shown. */
  clear(): void {
    this.#list?.remove();
    this.#list = null;
  }

  /** Adds the items of a further page. */
  append(list: ShownList, options: ListOptions): void {
    this.#list?.append(...listItems(list, options).map((item) => this.#make(item)));
  }

  /** Says something above the list, in place of what was said before. Screen readers say it, too. */
  say(notice: Notice | null): void {
    this.#notice ??= this.#make(h("div", { class: "notice", part: "notice", role: "status" }));
    if (!this.#notice.isConnected) this.#root.prepend(this.#notice);
    this.#notice.replaceChildren(...(notice === null ? [] : [this.#make(h("span", {}, notice.text))]));
    if (notice?.action === undefined) return;
    const button = this.#make(
      h("button", { class: "action", part: "action", type: "button" }, notice.action.text),
    );
    button.addEventListener("click", notice.action.run);
    this.#notice.append(button);
  }

  /** A line below the list. */
  showFoot(...content: ViewNode[]): void {
    const foot = this.#make(h("p", { class: "foot", part: "foot" }, content));
    if (this.#foot === null) this.#root.append(foot);
    else this.#foot.replaceWith(foot);
    this.#foot = foot;
  }

  #make(node: ViewNode): Element {
    return toDom(node, this.#root.ownerDocument) as Element;
  }
}

let sheet: CSSStyleSheet | undefined;

/** One for all elements of the page. Constructed: a policy without 'unsafe-inline' forbids a style element. */
function sharedSheet(): CSSStyleSheet {
  if (sheet === undefined) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(listCss + frameCss);
  }
  return sheet;
}

function replaceThumb({ target }: Event): void {
  if (!(target instanceof HTMLImageElement)) return;
  target.replaceWith(toDom(placeholder(), target.ownerDocument));
}
