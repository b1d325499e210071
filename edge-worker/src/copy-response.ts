import type { Ask } from "./ask.ts";
import { cacheStatus, type Handling } from "./cache-status.ts";
import type { Copy } from "./copy.ts";
import { matchesEntityTag } from "./entity-tag.ts";
import { everyAnswer } from "./fields.ts";
import { freshUntil } from "./freshness.ts";

export type Served = { copy: Copy; handling: Handling; originSeconds?: number };

/** The answer with a copy: 304 when the visitor has it already. `now` in Unix seconds. */
export function copyResponse(
  served: Served,
  { ask, request, now }: { ask: Ask; request: Request; now: number },
): Response {
  const { copy } = served;
  const headers = {
    ...everyAnswer,
    ...copy.fields,
    ...cacheFields(copy, ask),
    ...handlingFields(served, now),
  };
  const ifNoneMatch = request.headers.get("if-none-match");
  const etag = copy.fields.etag;
  if (ifNoneMatch !== null && etag !== undefined && matchesEntityTag(ifNoneMatch, etag)) {
    const { "content-type": _, ...validators } = headers;
    return new Response(null, { status: 304, headers: validators });
  }
  return new Response(request.method === "HEAD" ? null : copy.body, { headers });
}

// The answer to a URL without a region depends on who asks: no shared cache may keep it.
function cacheFields({ lifetimes, target }: Copy, { placed }: Ask): Record<string, string> {
  const ages = `max-age=${lifetimes.browserFresh}, stale-while-revalidate=${lifetimes.browserStale}`;
  const vary = { vary: "Accept-Encoding" };
  return placed
    ? { ...vary, "cache-control": `private, ${ages}`, "content-location": target }
    : { ...vary, "cache-control": `public, ${ages}` };
}

function handlingFields({ copy, handling, originSeconds }: Served, now: number): Record<string, string> {
  const timing =
    originSeconds === undefined ? "edge" : `edge, origin;dur=${Math.round(originSeconds * 1000)}`;
  return {
    age: String(Math.max(0, Math.floor(now - copy.checkedAt))),
    "cache-status": cacheStatus(handling, freshUntil(copy) - now),
    "server-timing": timing,
  };
}
