/** How a copy came to be served, in the terms of RFC 9211. */
export type Handling = {
  /** Why the origin was asked for this request, or null when it was not. */
  forwarded: "miss" | "stale" | null;
  /** What the origin answered, if it did. */
  forwardStatus?: number;
  stored?: boolean;
  /** This request shared another's question to the origin. */
  collapsed?: boolean;
  /** Why the copy is not fresh. */
  detail?: "stale-while-revalidate" | "stale-if-error" | "last-resort";
};

/** The value of Cache-Status. `ttl`: how long the copy is still fresh, in seconds; negative when it is not. */
export function cacheStatus(handling: Handling, ttl: number): string {
  const { forwarded, forwardStatus, stored, collapsed, detail } = handling;
  return [
    "trendvault",
    forwarded === null ? "hit" : `fwd=${forwarded}`,
    forwardStatus === undefined ? "" : `fwd-status=${forwardStatus}`,
    stored ? "stored" : "",
    collapsed ? "collapsed" : "",
    `ttl=${Math.floor(ttl)}`,
    detail === undefined ? "" : `detail=${detail}`,
  ]
    .filter((part) => part !== "")
    .join("; ");
}
