import type { ListRefusal } from "@trendvault/contract/list-refusals";
import { regionsPath } from "@trendvault/contract/paths";
import type { StoredResponse } from "../origin/stored-response.ts";
import type { CanonicalRequest } from "../rules/canonical-request.ts";
import { freshnessAt } from "../rules/freshness.ts";
import { dependsOnPublished, isDeleted, mayBeNext, readPublished, refuseList } from "../rules/published.ts";
import type { EdgeServices } from "./edge-services.ts";
import type { RequestContext } from "./revalidator.ts";

/** `doubted`: the origin has refused the list, but without a signature. */
type Options = { context: RequestContext; services: EdgeServices; doubted: boolean };

const statement: CanonicalRequest = { target: regionsPath, query: null, regionFromCountry: false };
/** A statement of the last seconds needs no newer one to say that something does not exist. */
const trustedSeconds = 10;
const trustedSecondsInDoubt = 1;

/**
 * Why there is no such list, decided from the origin's signed statement of what it has published: the origin need not
 * be asked for it. Null when there may be one, or when there is no statement.
 */
export async function refuseUnpublished(
  { query }: CanonicalRequest,
  options: Options,
): Promise<ListRefusal | null> {
  if (!dependsOnPublished(query)) return null;
  const since = options.services.clock() - (options.doubted ? trustedSecondsInDoubt : trustedSeconds);
  const known = await readStatement(Number.NEGATIVE_INFINITY, options);
  if (known === null) return null;
  const published = readPublished(known.body);
  const refusal = refuseList(query, published);
  if (refusal !== null && isDeleted(query, published)) return refusal;
  if (!options.doubted && (refusal === null || mayBeNext(query, published))) return null;
  const newer = await readStatement(since, options);
  return newer === null ? null : refuseList(query, readPublished(newer.body));
}

/** A statement that was fetched since a time (Unix seconds). */
async function readStatement(
  since: number,
  { context, services: { cache, revalidator, clock } }: Options,
): Promise<StoredResponse | null> {
  const stored = await cache.match(statement.target);
  const freshness = stored === null ? "unusable" : freshnessAt(clock(), stored);
  if (stored !== null && stored.fetchedAt >= since && (freshness === "fresh" || freshness === "stale")) {
    if (freshness === "stale") revalidator.revalidateInBackground(statement, context);
    return stored;
  }
  if (revalidator.recentFailure(statement.target)?.isBackingOff) return null;
  const { result } = await revalidator.revalidate(statement, context, since);
  return result.kind === "fetched" || result.kind === "already-fresh" ? result.response : null;
}
