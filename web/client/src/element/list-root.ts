import { toDom } from "../view/dom.ts";
import listCss from "../view/list.css" with { type: "text" };
import {
  type ListOptions,
  listItems,
  listView,
  placeholder,
  type List as ShownList,
} from "../view/list-view.ts";
import { h, type ViewNode } from "../view/nodes.ts";
import frameCss from "./frame.css" with { type: "text" };

/** A sentence with, perhaps, a button that does something about it. */
export type Notice = { text: string; action?: { text: string; run: () => void } };

/** The shadow root of an element: the list, and around it what the element says of itself. */
export class ListRoot {
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
