import { type Formats, formatsOf, languageOf, likelyLanguage } from "../view/formats.ts";
import type { List as ShownList } from "../view/list-view.ts";
import { h } from "../view/nodes.ts";
import { loadWords } from "../view/words/load-words.ts";
import { fill, type Words } from "../view/words/words.ts";
import { ListRoot } from "./list-root.ts";
import type { Failure, List, ReadList } from "./read-list.ts";

/** What a visitor is told above the list; null when there is nothing to say. */
export type NoticeKind =
  | "stale"
  | "fallback"
  | "offline"
  | "unverified"
  | "failed"
  | "newer"
  | "loading"
  | null;

/** How the element looks: `lang` is its attribute, or null. */
export type Look = { lang: string | null; thumbHosts: readonly string[] };

type Language = { words: Words; formats: Formats };

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

  /** What is shown next has this look. Loads the words of the language that the page wants, else that of the region. */
  async prepare({ lang, thumbHosts }: Look, region: string | null): Promise<void> {
    const language = languageOf(lang === null ? likelyLanguage(region) : (lang.split("-")[0] ?? ""));
    this.#thumbHosts = thumbHosts;
    this.#language = { words: await loadWords(language), formats: formatsOf(language) };
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
    const { words, formats } = this.#prepared;
    const action = run && { text: kind === "newer" ? words.showNewer : words.retry, run };
    const text = kind === null ? null : fill(words[kind], { age: formats.ago(ageSeconds) });
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
    const { words, formats } = this.#prepared;
    const made = fill(words.listOf, { time: formats.time(list.generated_at) });
    this.#root.showFoot(
      made,
      " · ",
      h("a", { class: "about", part: "about", href: `${src}/about` }, words.howMade),
    );
  }

  get #prepared(): Language {
    if (this.#language === null) throw new Error("Cannot show anything before prepare()");
    return this.#language;
  }
}
