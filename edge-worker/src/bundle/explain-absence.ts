import { pageUrl } from "@trendvault/contract/page";
import { explainedIdAt, isAssetPath, trendingPath, videoIdAt } from "@trendvault/contract/paths";
import { missing } from "@trendvault/contract/queries";
import { type CanonicalRequest, isPage } from "../rules/canonical-request.ts";

/**
 * What it means that a bundle has no such document: `list`: it may be made of others, or ends before; `page`: the list
 * may end before this page of it; `elsewhere`: another address has nearly the same; `missing`: it does not exist;
 * `unexplained`: it should be there.
 */
export type Absence =
  | { kind: "list" | "page" | "unexplained" }
  | { kind: "elsewhere"; nearest: string }
  | { kind: "missing"; detail: string };

export function explainAbsence(request: CanonicalRequest): Absence {
  const { target, query } = request;
  const [path = ""] = target.split("?");
  if (query !== null && isPage(request)) {
    if (query.lang === undefined) return { kind: query.cursor === undefined ? "unexplained" : "page" };
    return { kind: "elsewhere", nearest: pageUrl({ ...query, lang: undefined }) };
  }
  if (path === trendingPath) return { kind: "list" };
  if (explainedIdAt(path) !== null) return { kind: "missing", detail: missing.explanation };
  if (videoIdAt(path) !== null) return { kind: "missing", detail: missing.video };
  if (isAssetPath(path)) return { kind: "missing", detail: missing.asset };
  return { kind: "unexplained" };
}
