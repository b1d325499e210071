import { longestTarget, refusalDetails } from "@trendvault/contract/http";
import { viewMinutesPath, viewShardsPath, viewsPath } from "@trendvault/contract/paths";
import { largestMessage, readViewMessage } from "@trendvault/contract/views";
import { limiterFailed, nullOnError } from "../cache/null-on-error.ts";
import type { RequestContext } from "../cache/revalidator.ts";
import { countViews } from "../views/count-views.ts";
import type { ViewServices } from "../views/view-services.ts";
import { baseHeaders } from "./base-headers.ts";
import { refuse } from "./problem-response.ts";
import { readText } from "./read-text.ts";
import { respondToPull } from "./respond-to-pull.ts";

/** What a message's request brings besides its body. `allowMessage`: whether this client may send one more; counts it. */
export type MessageContext = RequestContext & { allowMessage: () => Promise<boolean> };

const allowed = "POST, OPTIONS";
const limiterPeriodSeconds = 60; // of VIEWS_RATE_LIMITER in wrangler.toml
const messageTypes = /^(text\/plain|application\/json)[ \t]*(;|$)/i;

/** The response at a path about views, or null for any other path. */
export async function respondToViews(
  request: Request,
  url: URL,
  { context, views }: { context: MessageContext; views: ViewServices },
): Promise<Response | null> {
  const { pathname, search } = url;
  const isPull = pathname === viewMinutesPath || pathname === viewShardsPath;
  if (pathname !== viewsPath && !isPull) return null;
  if (pathname.length + search.length > longestTarget) {
    return refuse("uri-too-long", refusalDetails["uri-too-long"]);
  }
  if (isPull) return respondToPull(request, url, views);
  if (request.method === "OPTIONS") return preflightResponse();
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
  if (!(await allows(context, views))) {
    const headers = { "retry-after": String(limiterPeriodSeconds) };
    return refuse("too-many-requests", "Your network has sent too many messages.", { headers });
  }
  const text = await readText(request, largestMessage);
  if (text === "too-large") {
    return refuse("content-too-large", `A message has at most ${largestMessage} bytes.`);
  }
  const message = text === null ? "expected UTF-8, as long as it says" : readViewMessage(text);
  if (typeof message === "string") return refuse("invalid-message", message);
  const result = await countViews(message, context, views.counting);
  if (result.kind === "counted") return emptyResponse();
  const headers = result.kind === "not-counted" ? { "retry-after": "60" } : {};
  return refuse(result.kind, result.detail, { headers });
}

// Without a rate limiter, the ceiling from served lists still bounds what is believed.
async function allows(context: MessageContext, { log }: ViewServices): Promise<boolean> {
  return (await nullOnError(context.allowMessage(), log, limiterFailed)) !== false;
}

function emptyResponse(): Response {
  return new Response(null, { status: 204, headers: { ...baseHeaders, "cache-control": "no-store" } });
}

function preflightResponse(): Response {
  const headers = {
    ...baseHeaders,
    allow: allowed,
    "access-control-allow-methods": allowed,
    "access-control-allow-headers": "Content-Type",
    "access-control-max-age": "86400",
  };
  return new Response(null, { status: 204, headers });
}
