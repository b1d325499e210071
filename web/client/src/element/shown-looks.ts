import { tellLooks } from "../tell-looks.ts";
import type { List } from "./read-list.ts";

/** Tells what is looked at of the pages that an element shows, when it has the attribute `views`. */
export class ShownLooks {
  readonly #element: HTMLElement;
  #ends: (() => void)[] = [];

  constructor(element: HTMLElement) {
    this.#element = element;
  }

  /** A page is shown from now on, by these elements. `again`: in place of an older list, and not because the visitor asked. */
  begin(list: List, elements: Element[], { src, again = false }: { src: string; again?: boolean }): void {
    if (!this.#element.hasAttribute("views")) return;
    this.#ends.push(tellLooks(list, elements, { url: `${src}/api/views`, again }));
  }

  /** None of them is shown any more. */
  end(): void {
    for (const end of this.#ends.splice(0)) end();
  }
}
