import { longestTarget, refusalDetails } from "@trendvault/contract/http";
import { paths } from "@trendvault/contract/paths";
import type { InvalidParameter } from "@trendvault/contract/queries";
import { verifyPull } from "@trendvault/contract/request-signatures";
import { readViewMessage, viewLimits } from "@trendvault/contract/views";
import { countViews, type ViewServices } from "./count-views.ts";
import { refuse, refuseParameters, respond } from "./handle-request.ts";
import { isAllowed } from "./log.ts";
import type { PulledMinutes } from "./minute-counts.ts";
import type { RequestContext } from "./read-through.ts";

/**
 * What a message's request brings besides its body. `allowMessage`: whether this client may send one more, `allowToken`:
 * whether it may with this token; they count it. `network`: the client's, see networkOf().
 */
export type MessageContext = RequestContext & {
  allowMessage: () => Promise<boolean>;
  allowToken: (token: string) => Promise<boolean>;
  network: string;
};

const allowed = "POST, OPTIONS";
const preflight = {
  allow: allowed,
  "access-control-allow-methods": allowed,
  "access-control-allow-headers": "Content-Type",
  "access-control-max-age": "86400",
};
const limiterPeriodSeconds = 60; // of the limiters of views in wrangler.toml
const messageTypes = /^(text\/plain|application\/json)[ \t]*(;|$)/i;

/** The response at a path that begins with /api/views. */
export async function respondToViews(
  request: Request,
  url: URL,
  { context, views }: { context: MessageContext; views: ViewServices },
): Promise<Response> {
  const { pathname, search } = url;
  if (pathname.length + search.length > longestTarget)
    return refuse("uri-too-long", refusalDetails["uri-too-long"]);
  if (pathname === paths.viewMinutes || pathname === paths.viewShards)
    return respondToPull(request, url, views);
  if (pathname !== paths.views) return refuse("not-found", refusalDetails["not-found"]);
  if (request.method === "OPTIONS") return respond(204, preflight);
  if (request.method !== "POST") {
    const detail = "Only POST and OPTIONS are allowed.";
    return refuse("method-not-allowed", detail, { headers: { allow: allowed } });
  }
  if (search !== "") return refuse("invalid-message", "expected no parameters");
  return respondToMessage(request, context, views);
}

async function respondToMessage(
  request: Request,
  context: MessageContext,
  views: ViewServices,
): Promise<Response> {
  if (!messageTypes.test(request.headers.get("content-type") ?? "")) {
    return refuse("unsupported-media-type", "Expected text/plain or application/json.");
  }
  if (!(await isAllowed(context.allowMessage(), views.log))) {
    return refuseMore();
  }
  const text = await readText(request, viewLimits.messageBytes);
  if (text === "too-large") {
    return refuse("content-too-large", `A message has at most ${viewLimits.messageBytes} bytes.`);
  }
  const message = text === null ? "expected UTF-8, as long as it says" : readViewMessage(text);
  if (typeof message === "string") return refuse("invalid-message", message);
  if (!(await isAllowed(context.allowToken(message.token), views.log))) {
    return refuseMore();
  }
  const result = await countViews(message, context, views);
  if (result.kind === "counted") return respond(204, { "cache-control": "no-store" });
  const headers = result.kind === "not-counted" ? { "retry-after": "60" } : {};
  return refuse(result.kind, result.detail, { headers });
}

function refuseMore(): Response {
  const headers = { "retry-after": String(limiterPeriodSeconds) };
  return refuse("too-many-requests", "Your network has sent too many messages.", { headers });
}

const refusals: Record<Exclude<Awaited<ReturnType<typeof verifyPull>>, "valid">, string> = {
  unsigned: "The request is not signed as a pull is.",
  "unknown-key": "The request is signed by a key that is not in VIEWS_KEYS.",
  tampered: "The signature is not one of this request.",
  "not-now": "The signature is not of now: compare both clocks.",
};

/** The response to a writer that pulls counts. Nothing is asked of a shard before the request's signature is verified. */
async function respondToPull(
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
  if (path !== paths.viewShards) return respondWithMinutes(query, shards);
  if (query !== "")
    return refuseParameters({ invalid: [{ name: "(unknown)", detail: "expected no parameters" }] });
  return respondWithJson(JSON.stringify({ shards: shards.names(), kept_hours: viewLimits.keptHours }));
}

async function respondWithMinutes(query: string, shards: ViewServices["shards"]): Promise<Response> {
  const { shard: name = "", after, limit, invalid } = readParameters(query);
  const shard = shards.find(name);
  if (shard === null) invalid.push({ name: "shard", detail: "expected a region and a number, like GB-0" });
  if (shard === null || invalid.length > 0) return refuseParameters({ invalid });
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
  const [after, limit] = [
    parameters.get("after"),
    parameters.get("limit") ?? String(viewLimits.pullRows.default),
  ];
  if (after !== null && !/^\d{1,10}$/.test(after))
    invalid.push({ name: "after", detail: "expected a minute" });
  if (!/^[1-9]\d{0,4}$/.test(limit) || Number(limit) > viewLimits.pullRows.most) {
    invalid.push({ name: "limit", detail: `expected a whole number from 1 to ${viewLimits.pullRows.most}` });
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
  return respond(200, { "content-type": "application/json", "cache-control": "no-store" }, body);
}

/**
 * The body as text: null when it is not UTF-8 or ends before its end, "too-large" when it has more bytes; of that, the
 * rest is not read.
 */
export async function readText(
  { headers, body }: Request,
  largest: number,
): Promise<string | "too-large" | null> {
  if (Number(headers.get("content-length") ?? 0) > largest) return "too-large";
  const bytes = new Uint8Array(largest);
  let length = 0;
  const reader = body?.getReader();
  for (;;) {
    const chunk = await reader?.read().catch(() => null); // a client that goes away is no fault of ours
    if (chunk === null) return null;
    if (chunk === undefined || chunk.done) break;
    const { value } = chunk;
    if (length + value.length > largest) {
      await reader?.cancel();
      return "too-large";
    }
    bytes.set(value, length);
    length += value.length;
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes.subarray(0, length));
  } catch {
    return null; // the only thing it throws is a TypeError about the bytes
  }
}
