import { dispatch } from "./list-events.ts";
import type { List } from "./read-list.ts";

/** Tells the page that a click of the left or the middle button opens a video; the page may keep it from opening. */
export function announceOpening(element: HTMLElement, pages: readonly List[], event: Event): void {
  if (event.type === "auxclick" && (event as MouseEvent).button !== 1) return;
  const link = (event.target as Element).closest<HTMLAnchorElement>("li a[href]");
  const rank = Number(link?.closest("li")?.getAttribute("data-rank"));
  const item = pages.flatMap(({ items }) => items).find((candidate) => candidate.rank === rank);
  if (link === null || item === undefined) return;
  const goesOn = dispatch(element, "trendvault-open", { id: item.id, rank, url: link.href });
  if (!goesOn) event.preventDefault();
}
