/** How a response was found, in the terms of RFC 9211, section 2. */
export type CacheStatus = {
  /** Why the request went to the origin, or null when it did not. */
  fwd: "miss" | "stale" | null;
  /** The status of the origin's response, if it gave one. */
  fwdStatus?: number;
  stored?: boolean;
  /** This request shared another's request to the origin. */
  collapsed?: boolean;
  /** Why a response that is not fresh, or not the first source's, is served. */
  detail?: "stale-while-revalidate" | "stale-if-error" | "bundle" | "bundle-fallback" | "kv-fallback";
};

/** The value of Cache-Status. `ttl`: how long the response is still fresh, in seconds; negative when it is not. */
export function formatCacheStatus(cacheStatus: CacheStatus, ttl: number): string {
  const { fwd, fwdStatus, stored, collapsed, detail } = cacheStatus;
  return [
    "trendvault",
    fwd === null ? "hit" : `fwd=${fwd}`,
    fwdStatus === undefined ? "" : `fwd-status=${fwdStatus}`,
    stored ? "stored" : "",
    collapsed ? "collapsed" : "",
    `ttl=${Math.floor(ttl)}`,
    detail === undefined ? "" : `detail=${detail}`,
  ]
    .filter((part) => part !== "")
    .join("; ");
}
