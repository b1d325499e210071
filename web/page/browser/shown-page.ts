import type { TrendvaultList } from "../../client/src/element.ts";
import { toDom } from "../../client/src/view/dom.ts";
import type { ViewElement } from "../../client/src/view/nodes.ts";
import { footView } from "../foot-view.ts";
import { headerView } from "../header-view.ts";
import type { Shell } from "../page-model.ts";
import { asOfView, moreLink, titleOf } from "../parts-view.ts";

/** The parts of the document around the list. */
export class ShownPage {
  readonly #list: TrendvaultList;

  constructor(list: TrendvaultList) {
    this.#list = list;
  }

  /** Seconds since the list was made, by the clock of the device. */
  get ageSeconds(): number {
    const generatedAt = this.#list.list?.generated_at;
    return generatedAt === undefined ? 0 : Math.max(0, (Date.now() - Date.parse(generatedAt)) / 1000);
  }

  /** Shows another page's head and foot. What had the focus has it again. */
  showShell(shell: Shell): void {
    const focused = document.activeElement;
    document.documentElement.lang = shell.language;
    document.title = titleOf(shell);
    replace("header", headerView(shell));
    replace("foot", footView(shell));
    this.showList(shell);
    if (document.activeElement !== focused) findAgain(focused)?.focus();
  }

  /** Shows how old the list is, and the link to its next ranks. */
  showList(shell: Shell): void {
    const { list } = this.#list;
    if (list === null) return;
    this.showAge(shell);
    document.getElementById("more")?.remove();
    const link = moreLink(list.next, shell);
    if (link !== null) this.#list.after(toDom(link, document));
  }

  showAge({ words, formats }: Shell): void {
    const generatedAt = this.#list.list?.generated_at;
    if (generatedAt === undefined) return;
    const text = `${formats.localTime(generatedAt)} (${formats.ago(this.ageSeconds)})`;
    const shown = document.querySelector<HTMLTimeElement>("#as-of time");
    if (shown?.textContent !== text || shown.dateTime !== generatedAt) {
      replace("as-of", asOfView(generatedAt, text, words));
    }
  }
}

function replace(id: string, view: ViewElement): void {
  document.getElementById(id)?.replaceWith(toDom(view, document));
}

/** The control in the new head that does what the old one did. */
function findAgain(before: Element | null): HTMLElement | null {
  if (before instanceof HTMLSelectElement) return document.querySelector(`select[name="${before.name}"]`);
  const text = before instanceof HTMLAnchorElement ? before.textContent : null;
  const links = [...document.querySelectorAll<HTMLElement>("a[data-pick]")];
  return (
    links.find((link) => link.getAttribute("href") === before?.getAttribute("href")) ??
    links.find((link) => link.textContent === text) ??
    null
  );
}
