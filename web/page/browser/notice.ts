import { toDom } from "../../client/src/view/dom.ts";
import { h } from "../../client/src/view/nodes.ts";

type Action = { label: string; run: () => void };

/** The one sentence above the page that says what is the matter. It covers, and moves nothing. */
export class Notice {
  readonly #place: Element;
  #kind = "";

  constructor(place: Element) {
    this.#place = place;
  }

  /** Shows a sentence of a kind in place of any other; the same one is not announced again. */
  show(kind: string, text: string, action?: Action): void {
    if (this.#kind === kind && this.#place.firstChild?.firstChild?.textContent === text) return;
    this.#kind = kind;
    const button = action === undefined ? null : h("button", { type: "button" }, action.label);
    const shown = toDom(h("p", {}, h("span", {}, text), button), document);
    shown.lastChild?.addEventListener("click", () => action?.run());
    this.#place.replaceChildren(shown);
  }

  /** Takes the sentence away, if it is of one of these kinds. */
  clear(...kinds: string[]): void {
    if (!kinds.includes(this.#kind)) return;
    this.#kind = "";
    this.#place.replaceChildren();
  }
}
