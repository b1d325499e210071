/** Of a page of a list, what a message about it needs: any answer of /api/trending. */
type ShownList = { token: string; items: readonly { rank: number; made_for_kids?: true | undefined }[] };

type ReportOptions = {
  /** Where messages are sent. Default: /api/views of the page's own site. */
  url?: string;
  /** The visitor has seen an earlier list in this place: only clicks are reported, no further impression. */
  again?: boolean;
  /** False where the page with the video tells clicks, once it was watched: only impressions are reported. */
  clicks?: boolean;
};

/**
 * Reports impressions and clicks of a list to the edge (docs/loop.md): one message when the page is hidden for the first
 * time, with the deepest rank that was on screen and the ranks that were opened; what is opened later goes into further
 * ones, which add no impression. `elements` shows the items of `list`, one each, in its order; links in them open, or else they
 * themselves. Nothing is stored in the browser, and nothing is reported of what is made for kids.
 *
 * @returns a function that reports what was not reported yet and ends it, for a list that is taken away
 */
export function reportImpressions(
  list: ShownList,
  elements: Iterable<Element>,
  { url = "/api/views", again = false, clicks = true }: ReportOptions = {},
): () => void {
  const ranks = new Map<Element, number>();
  for (const [index, element] of [...elements].entries()) {
    const { rank = 0, made_for_kids } = list.items[index] ?? {};
    if (!made_for_kids) ranks.set(element, rank);
  }
  const opened = new Set<number>();
  const reported = new Set<number>();
  const end = new AbortController();
  let seen = 0;
  let isReported = again;

  const see = (rank: number) => {
    if (!isReported) seen = Math.max(seen, rank);
  };
  const send = () => {
    if ((isReported ? opened.size : seen) === 0) return;
    const message = { token: list.token, seen: isReported ? 0 : seen, opened: [...opened] };
    navigator.sendBeacon(url, JSON.stringify(message));
    isReported = true;
    for (const rank of opened) reported.add(rank);
    opened.clear();
  };
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) see(ranks.get(target) ?? 0);
    },
    { threshold: 0.5 },
  );
  const listen = { signal: end.signal };
  for (const [element, rank] of ranks) {
    observer.observe(element);
    const open = (event: Event) => {
      if (!opensItem(element, event)) return;
      see(rank);
      if (clicks && !reported.has(rank)) opened.add(rank);
    };
    element.addEventListener("click", open, listen);
  }
  const onHide = () => document.visibilityState === "hidden" && send();
  document.addEventListener("visibilitychange", onHide, listen);
  return () => {
    send();
    observer.disconnect();
    end.abort();
  };
}

/** Whether a click opens the item: anywhere, unless there are links for that. */
function opensItem(element: Element, { target }: Event): boolean {
  const links = "a[href]";
  return element.querySelector(links) === null || (target as Element).closest(links) !== null;
}
