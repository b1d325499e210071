import type { Explanation } from "../../generated/types.gen.ts";
import { toDom } from "../view/dom.ts";
import { h } from "../view/nodes.ts";
import type { List } from "./read-list.ts";

/**
 * Says why a video is where it is, once its "why here" was opened for the first time: in place of what the list itself
 * knows, which stays when nothing more can be read. The sentences are the origin's, in English.
 */
export async function explain(
  event: Event,
  { region, window }: Pick<List, "region" | "window">,
  readJson: (path: string) => Promise<unknown>,
): Promise<void> {
  const details = event.target as Element;
  const text = details.querySelector(".explanation");
  const id = details.getAttribute("data-id");
  if (!details.hasAttribute("open") || id === null || text === null || text.hasAttribute("lang")) return;
  try {
    const query = `region=${region}${window === "day" ? "" : `&window=${window}`}`;
    const { sentences } = (await readJson(`/api/videos/${id}/explain?${query}`)) as Explanation;
    text.replaceChildren(...sentences.map((sentence) => toDom(h("p", {}, sentence), text.ownerDocument)));
    text.setAttribute("lang", "en");
  } catch {
    // It is read again when it is opened again.
  }
}
