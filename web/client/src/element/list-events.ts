import { restartOf } from "../problem-error.ts";
import type { Failure, List, ListState } from "./read-list.ts";

/** What the element tells the page. All bubble and leave shadow trees. */
export type TrendvaultListEvents = {
  /** A visitor opens a video. preventDefault() keeps the browser from following the link. */
  "trendvault-open": { id: string; rank: number; url: string };
  /** A list, or a further page of it, is shown. `age` is in seconds. */
  "trendvault-list": { list: List; age: number; state: ListState };
  /** A newer list is there: showNewer() shows it. */
  "trendvault-newer": { list: List };
  /** Nothing new could be read; what was shown stays. `restart` is the address of the newest list, where one was deleted. */
  "trendvault-failure": { state: Failure; error: unknown; restart?: string };
};

/** @returns whether the page has left it to the element to go on */
export function dispatch<Name extends keyof TrendvaultListEvents>(
  element: EventTarget,
  name: Name,
  detail: TrendvaultListEvents[Name],
): boolean {
  const options = { detail, bubbles: true, composed: true, cancelable: name === "trendvault-open" };
  return element.dispatchEvent(new CustomEvent(name, options));
}

/** Tells that nothing new could be read. */
export function dispatchFailure(element: EventTarget, state: Failure, error: unknown): void {
  const restart = restartOf(error);
  dispatch(element, "trendvault-failure", { state, error, ...(restart !== null && { restart }) });
}
