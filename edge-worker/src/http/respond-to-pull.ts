import { viewShardsPath } from "@trendvault/contract/paths";
import type { InvalidParameter } from "@trendvault/contract/queries";
import { type PullVerdict, verifyPull } from "@trendvault/contract/request-signatures";
import { keptHours, pullRows } from "@trendvault/contract/views";
import type { PulledMinutes } from "../counting/minute-counts.ts";
import type { ViewServices } from "../views/view-services.ts";
import { baseHeaders } from "./base-headers.ts";
import { refuse } from "./problem-response.ts";

const refusals: Record<Exclude<PullVerdict, "valid">, string> = {
  unsigned: "The request is not signed as a pull is.",
  "unknown-key": "The request is signed by a key that is not in VIEWS_KEYS.",
  tampered: "The signature is not one of this request.",
  "not-now": "The signature is not of now: compare both clocks.",
};

/** The response to a writer that pulls counts. Nothing is asked of a shard before the request's signature is verified. */
export async function respondToPull(
  { method, headers }: Request,
  { pathname: path, search: query }: URL,
  { shards, pullKeys, clock }: ViewServices,
): Promise<Response> {
  if (method !== "GET") {
    return refuse("method-not-allowed", "Only GET is allowed.", { headers: { allow: "GET" } });
  }
  const fields = {
    "signature-input": headers.get("signature-input") ?? "",
    signature: headers.get("signature") ?? "",
  };
  const verdict = await verifyPull({ method, path, query, fields }, pullKeys, clock());
  if (verdict !== "valid") return refuse("pull-signature", refusals[verdict]);
  if (path !== viewShardsPath) return respondWithMinutes(query, shards);
  if (query !== "") return refuseParameters([{ name: "(unknown)", detail: "expected no parameters" }]);
  return respondWithJson(JSON.stringify({ shards: shards.names(), kept_hours: keptHours }));
}

async function respondWithMinutes(query: string, shards: ViewServices["shards"]): Promise<Response> {
  const { shard: name = "", after, limit, invalid } = readParameters(query);
  const shard = shards.find(name);
  if (shard === null) invalid.push({ name: "shard", detail: "expected a region and a number, like GB-0" });
  if (shard === null || invalid.length > 0) return refuseParameters(invalid);
  try {
    return respondWithJson(writeMinutes(name, after, await shard.pull(after, limit)));
  } catch (error) {
    const detail = `The shard does not answer: ${error instanceof Error ? error.message : "no reason is known"}`;
    return refuse("not-counted", detail, { headers: { "retry-after": "60" } });
  }
}

function readParameters(query: string) {
  const parameters = new URLSearchParams(query);
  const invalid: InvalidParameter[] = [];
  for (const name of parameters.keys()) {
    if (!["shard", "after", "limit"].includes(name) || parameters.getAll(name).length > 1) {
      invalid.push({ name: "(unknown)", detail: "expected shard, after and limit, each at most once" });
    }
  }
  const [after, limit] = [parameters.get("after"), parameters.get("limit") ?? String(pullRows.default)];
  if (after !== null && !/^\d{1,10}$/.test(after))
    invalid.push({ name: "after", detail: "expected a minute" });
  if (!/^[1-9]\d{0,4}$/.test(limit) || Number(limit) > pullRows.most) {
    invalid.push({ name: "limit", detail: `expected a whole number from 1 to ${pullRows.most}` });
  }
  const shard = parameters.get("shard") ?? undefined;
  return { shard, after: after === null ? null : Number(after), limit: Number(limit), invalid };
}

// The rows are JSON texts already.
function writeMinutes(
  shard: string,
  after: number | null,
  { until, lastClosed, lostUntil, looks, served }: PulledMinutes,
): string {
  const head = JSON.stringify({ shard, after, until, last_closed: lastClosed, lost_until: lostUntil });
  return `${head.slice(0, -1)},"looks":[${looks.join(",")}],"served":[${served.join(",")}]}`;
}

function respondWithJson(body: string): Response {
  const headers = { ...baseHeaders, "content-type": "application/json", "cache-control": "no-store" };
  return new Response(body, { headers });
}

function refuseParameters(invalid: InvalidParameter[]): Response {
  const detail = invalid.map((parameter) => `${parameter.name}: ${parameter.detail}`).join("; ");
  return refuse("invalid-parameter", detail, { invalid });
}
