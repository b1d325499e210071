/** Of a page of a list, what a message about it needs: any answer of /api/trending. */
type LookedAt = { token: string; items: readonly { rank: number }[] };

type LookOptions = {
  /** Where messages are sent. Default: /api/views of the page's own site. */
  url?: string;
  /** The visitor has looked at an earlier list in this place: only what is opened is told, no further look. */
  again?: boolean;
};

/**
 * Tells the edge what of a list was looked at (docs/loop.md): one message when the page is hidden for the first time,
 * with the deepest rank that was on screen and the ranks that were opened; what is opened later goes into further ones,
 * which add no look. `elements` shows the items of `list`, one each, in its order; links in them open, or else they
 * themselves. Nothing is stored in the browser.
 *
 * @returns a function that tells what was not told yet and ends it, for a list that is taken away
 */
export function tellLooks(
  list: LookedAt,
  elements: Iterable<Element>,
  { url = "/api/views", again = false }: LookOptions = {},
): () => void {
  const ranks = new Map([...elements].map((element, index) => [element, list.items[index]?.rank ?? 0]));
  const opened = new Set<number>();
  const told = new Set<number>();
  const end = new AbortController();
  let seen = 0;
  let isTold = again;

  const look = (rank: number) => {
    if (!isTold) seen = Math.max(seen, rank);
  };
  const tell = () => {
    if ((isTold ? opened.size : seen) === 0) return;
    const message = { token: list.token, seen: isTold ? 0 : seen, opened: [...opened] };
    navigator.sendBeacon(url, JSON.stringify(message));
    isTold = true;
    for (const rank of opened) told.add(rank);
    opened.clear();
  };
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) look(ranks.get(target) ?? 0);
    },
    { threshold: 0.5 },
  );
  const listen = { signal: end.signal };
  for (const [element, rank] of ranks) {
    observer.observe(element);
    const open = (event: Event) => {
      if (!opensItem(element, event)) return;
      look(rank);
      if (!told.has(rank)) opened.add(rank);
    };
    element.addEventListener("click", open, listen);
  }
  const onHide = () => document.visibilityState === "hidden" && tell();
  document.addEventListener("visibilitychange", onHide, listen);
  return () => {
    tell();
    observer.disconnect();
    end.abort();
  };
}

/** Whether a click opens the item: anywhere, unless there are links for that. */
function opensItem(element: Element, { target }: Event): boolean {
  const links = "a[href]";
  return element.querySelector(links) === null || (target as Element).closest(links) !== null;
}
