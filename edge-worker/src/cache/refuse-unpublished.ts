import { regionsPath } from "@trendvault/contract/paths";
import type { ListRefusal } from "@trendvault/contract/queries";
import type { StoredResponse } from "../origin/stored-response.ts";
import type { CanonicalRequest } from "../rules/canonical-request.ts";
import { freshnessAt } from "../rules/freshness.ts";
import {
  dependsOnPublished,
  isDeleted,
  mayBeNext,
  type Published,
  readPublished,
  refuseList,
} from "../rules/published.ts";
import type { EdgeServices } from "./edge-services.ts";
import type { RequestContext, RevalidationResult } from "./revalidator.ts";

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
  const published = readStated(known);
  const refusal = refuseList(query, published);
  if (refusal !== null && isDeleted(query, published)) return refusal;
  if (!options.doubted && (refusal === null || mayBeNext(query, published))) return null;
  const newer = await readStatement(since, options);
  return newer === null ? null : refuseList(query, readStated(newer));
}

/** What a statement says. One in a bundle knows of its own generation only. */
function readStated({ body, bundle }: StoredResponse): Published {
  const published = readPublished(body);
  return bundle === undefined ? published : { ...published, isOfOne: true };
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
  const recent = revalidator.recentFailure(statement.target);
  if (recent?.isBackingOff) return statementOf(recent.result);
  return statementOf((await revalidator.revalidate(statement, context, since)).result);
}

function statementOf(result: RevalidationResult): StoredResponse | null {
  const { kind } = result;
  return kind === "fetched" || kind === "already-fresh" || kind === "unchanged" ? result.response : null;
}
