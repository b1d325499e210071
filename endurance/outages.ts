/** Where clients ask. */
export const sites = ["edge", "origin"] as const;
export type Site = (typeof sites)[number];

type Outage = { site: Site; from: number; until: number };

/**
 * When which site was killed, and until when it may have been away: a request that was open then may be torn, and is no
 * failure. Times are of `performance.now()`.
 */
export class Outages {
  readonly #outages: Outage[] = [];

  /** Gives the function that ends it. */
  begin(site: Site, from: number): (until: number) => void {
    const outage = { site, from, until: Number.POSITIVE_INFINITY };
    this.#outages.push(outage);
    return (until) => {
      outage.until = until;
    };
  }

  /** Whether a request that began and ended at these times was open in an outage of its site. */
  hasTorn(site: Site, { from, until }: { from: number; until: number }): boolean {
    return this.#outages.some(
      (outage) => outage.site === site && from <= outage.until && until >= outage.from,
    );
  }
}
