/** Where clients ask. */
export const sites = ["edge", "origin"] as const;
export type Site = (typeof sites)[number];

/** Why a request failed without a fault: a kill has torn it, or a clock that is wrong had it refused. */
export type Excuse = "torn" | "refused";

type Outage = { site: Site; from: number; until: number; excuse: Excuse };

/**
 * When which site was killed, and until when it may have been away: a request that was open then may be torn, and is no
 * failure. And when its clock was so wrong that it refuses those whose clocks are right, and they it: only that is no
 * failure then. Times are of `performance.now()`.
 */
export class Outages {
  readonly #outages: Outage[] = [];

  /** Gives the function that ends it. */
  begin(site: Site, from: number, excuse: Excuse = "torn"): (until: number) => void {
    const outage = { site, from, until: Number.POSITIVE_INFINITY, excuse };
    this.#outages.push(outage);
    return (until) => {
      outage.until = until;
    };
  }

  /** What excuses the failure of a request that began and ended at these times: an outage of its site in which it was open. */
  excuseOf(
    site: Site,
    { from, until, failure }: { from: number; until: number; failure: string },
  ): Excuse | null {
    const open = this.#outages.filter(
      (outage) => outage.site === site && from <= outage.until && until >= outage.from,
    );
    const explains = ({ excuse }: Outage) => excuse === "torn" || isRefusalByClock(failure);
    return open.find(explains)?.excuse ?? null;
  }
}

/** What an origin says to a request that was signed at another time than its own, and a verifier of an answer. */
function isRefusalByClock(failure: string): boolean {
  return (
    /: status 403: .*edge signature/.test(failure) || failure.includes("Cannot verify the answer: outdated")
  );
}
