import type { PageLanguage } from "@trendvault/contract/page";
import type { Explanation } from "@trendvault/contract/responses";
import { toDom } from "../view/dom.ts";
import listCss from "../view/list.css" with { type: "text" };
import {
  type ListOptions,
  listItems,
  listView,
  placeholder,
  type List as ShownList,
} from "../view/list-view.ts";
import { loadListMessages } from "../view/locales/load.ts";
import {
  type Formats,
  fill,
  formatsOf,
  type ListMessages,
  languageOf,
  likelyLanguage,
} from "../view/locales/locale.ts";
import { h, type ViewNode } from "../view/nodes.ts";
import frameCss from "./frame.css" with { type: "text" };
import { describeAge, type Failure, type List, type ReadList } from "./list-reader.ts";

/** What a visitor is told above the list; null when there is nothing to say. */
type NoticeKind = "stale" | "fallback" | "offline" | "unverified" | "failed" | "newer" | null;

/** How the element appears: `lang` is its attribute, or null; `askWords` gives those of a language that is not built in. */
type Appearance = {
  lang: string | null;
  thumbHosts: readonly string[];
  reportUrl?: string | null;
  askWords?: (tag: string) => Promise<OwnWords>;
};

type OwnWords = object | null | undefined;

/** `own` are words of a site's own language; what they lack, and without them all, is of the built-in one. */
type Language = {
  tag: string;
  builtIn: PageLanguage;
  own: object | undefined;
  messages: ListMessages;
  formats: Formats;
};

/** Writes lists and notices in the visitor's language into a shadow root. */
export class ListPresenter {
  readonly #root: ListRoot;
  #language: Language | null = null;
  #look: Pick<Appearance, "thumbHosts" | "reportUrl"> = { thumbHosts: [] };

  constructor(root: ShadowRoot) {
    this.#root = new ListRoot(root);
  }

  /** The elements of the items that are shown, in their order. */
  get items(): Element[] {
    return this.#root.items;
  }

  /**
   * Loads the messages of the language that the page wants, else that of the region. @returns what makes all that is
   * shown next appear so: until a list is shown, the words around the one before stay as they are
   */
  async prepare({ lang, askWords, ...look }: Appearance, region: string | null): Promise<() => void> {
    const wanted = (lang ?? likelyLanguage(region)).split("-")[0] ?? "";
    const builtIn = languageOf(wanted);
    const mayBeOwn = builtIn !== wanted && /^[a-z]{2,3}$/.test(wanted);
    const own = (mayBeOwn && ((await askWords?.(wanted)) ?? this.#ownWords(wanted))) || undefined;
    const messages = { ...(await loadListMessages(builtIn)), ...own };
    const tag = own ? wanted : builtIn;
    return () => {
      this.#look = look;
      this.#language = { tag, builtIn, own, messages, formats: formatsOf(tag) };
      this.#root.words = { lang: tag, dir: messages.dir };
    };
  }

  /** Those of before, while the server cannot be asked. */
  #ownWords(tag: string): OwnWords {
    return this.#language?.tag === tag ? this.#language.own : null;
  }

  /** Takes away the list that is shown. */
  clear(): void {
    this.#root.clear();
  }

  /** Holds the space of a list of so many items while nothing is shown. */
  wait(count: number): void {
    this.#root.say(null);
    this.#root.wait(count);
  }

  /** Says there that it is loading. */
  sayWaiting(): void {
    this.#root.sayWaiting(this.#prepared.messages.loading);
  }

  /** Shows what the page has put into the element instead of a list that could not be loaded. */
  giveUp(): void {
    this.#root.showSlot();
  }

  /** Shows a list in place of what is shown. */
  show(list: List): void {
    this.#root.show(list as ShownList, { ...this.#prepared, ...this.#look });
  }

  /** Adds the items of a further page. */
  append(list: List): void {
    this.#root.append(list as ShownList, { ...this.#prepared, ...this.#look });
  }

  /** Says it, with a button for what has an action; `ageSeconds` is that of the list that is shown. */
  notice(kind: NoticeKind, { ageSeconds = 0, run }: { ageSeconds?: number; run?: () => void } = {}): void {
    const { messages, formats } = this.#prepared;
    const action = run && { text: kind === "newer" ? messages.show : messages.retry, run };
    const text = kind === null ? null : fill(messages[kind], { age: formats.ago(ageSeconds) });
    this.#root.say(text === null ? null : { text, ...(action && { action }) });
  }

  /** Says that nothing new could be read. `shown` is the list that is shown, null when there is none. */
  noticeFailure(failure: Failure, { shown, run }: { shown: ReadList | null; run: () => void }): void {
    const ageSeconds = shown === null ? 0 : describeAge(shown.list, new Headers()).ageSeconds;
    if (failure === "unverified") this.notice("unverified");
    else if (shown === null) this.notice("failed", { run });
    else if (failure === "offline") this.notice("offline", { ageSeconds });
    else this.notice(shown.state === "fallback" ? "fallback" : "stale", { ageSeconds });
  }

  /** Says of a list that is shown how old it is, where that is unusual, when it was made, and how. */
  describe({ list, state, ageSeconds }: ReadList, src: string): void {
    this.notice(state === "live" ? null : state, { ageSeconds });
    this.#foot(list, src);
  }

  #foot(list: List, src: string): void {
    const { tag, messages, formats } = this.#prepared;
    const made = fill(messages.listOf, { time: formats.time(list.generated_at) });
    this.#root.showFoot(
      made,
      " · ",
      h("a", { class: "about", part: "about", href: `${src}/about#${tag}` }, messages.howMade),
    );
  }

  /**
   * Writes why a video is where it is into an element, in place of what the list itself knows: in the language of the list.
   * What is not in it any more has sentences in English only.
   */
  async explain(explanation: Explanation, into: Element): Promise<void> {
    const { tag, builtIn, own, formats } = this.#prepared;
    const isPlaced = Boolean(explanation.place);
    const { explainIn } = await import("../view/explanation.ts");
    const sentences = isPlaced
      ? await explainIn(builtIn, explanation, { formats, own })
      : explanation.sentences;
    into.replaceChildren(...sentences.map((text) => toDom(h("p", {}, text), into.ownerDocument)));
    into.setAttribute("lang", isPlaced ? tag : "en");
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
  /** What the words around the list are, which a page of another language may have. */
  words: { lang: string; dir: string } = { lang: "en", dir: "ltr" };

  /** Keeps what the server rendered into it, with its linked style. */
  constructor(root: ShadowRoot) {
    this.#root = root;
    this.#list = root.querySelector("ol.list, p.empty");
    if (root.querySelector("link[rel=stylesheet]") === null) root.adoptedStyleSheets = [sharedSheet()];
    root.addEventListener("error", ({ target }) => replaceThumb(target), true); // it does not bubble
    // What has failed before a script could hear of it.
    for (const image of root.querySelectorAll("img"))
      if (image.complete && !image.naturalWidth) replaceThumb(image);
  }

  /** The elements of the items that are shown, in their order. */
  get items(): Element[] {
    return this.#list === null ? [] : [...this.#list.querySelectorAll(":scope > li")];
  }

  /** Holds the space of so many items, where no list is shown. */
  wait(count: number): void {
    if (this.#list?.matches(".list, .empty")) return;
    const rows = Array.from({ length: count }, () => h("div", { class: "row" }));
    this.#replaceList(this.#make(h("div", { class: "waiting" }, h("p", { role: "status" }), rows)));
  }

  /** Says it in the space that is held. */
  sayWaiting(text: string): void {
    const said = this.#root.querySelector(".waiting > p");
    if (said !== null) Object.assign(said, this.words).replaceChildren(text);
  }

  /** Shows the element's own content, where no list is shown. */
  showSlot(): void {
    if (!this.#list?.matches(".list, .empty")) this.#replaceList(this.#make(h("slot", {})));
  }

  /** Shows a list in place of what is shown. */
  show(list: ShownList, options: ListOptions): void {
    this.#replaceList(this.#make(listView(list, options)));
  }

  #replaceList(shown: Element): void {
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
    Object.assign(this.#notice, this.words);
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
    const foot = this.#make(h("p", { class: "foot", part: "foot", ...this.words }, content));
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

function replaceThumb(image: EventTarget | null): void {
  if (image instanceof HTMLImageElement) image.replaceWith(toDom(placeholder(), image.ownerDocument));
}
