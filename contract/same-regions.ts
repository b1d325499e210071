import { regionsPath, trendingPath } from "./paths.ts";

/** How often an edge that answers 503 is asked, and the pause in between. */
type Patience = { attempts?: number; pauseMs?: number; signal?: AbortSignal | undefined };

/**
 * The codes of the regions. A busy origin may take longer than its edge waits: 503 is asked again, for a minute.
 *
 * @throws Error when the edge was built for others than those at /api/regions, or does not answer
 */
export async function requireSameRegions(edgeUrl = "", patience: Patience = {}): Promise<string> {
  const url = URL.parse(regionsPath, edgeUrl);
  if (url === null) throw new Error("Expected the URL of the edge, like https://trending.example.com");
  const [published, own] = await Promise.all([
    readPublished(url, patience),
    readOwn(new URL(trendingPath, url), patience),
  ]);
  if (published === own) return published;
  throw new Error(
    `The edge was built for the regions ${own}, and those at ${url} are ${published}. Build it with the file that ` +
      "REGIONS_FILE names at the writer and the origin (docs/markets.md).",
  );
}

async function readPublished(url: URL, patience: Patience): Promise<string> {
  const response = await fetchReady(url, patience);
  if (!response.ok) throw new Error(`${url} answered with status ${response.status}`);
  const { regions } = (await response.json()) as { regions: { code: string }[] };
  return regions.map(({ code }) => code).join(", ");
}

/** The edge refuses a region that it does not have by itself, and says which it has. */
async function readOwn(url: URL, patience: Patience): Promise<string> {
  url.searchParams.set("region", "none");
  const response = await fetchReady(url, patience);
  const { invalid } = (await response.json()) as { invalid?: { name: string; detail: string }[] };
  const detail = invalid?.find(({ name }) => name === "region")?.detail;
  if (detail === undefined) throw new Error(`${url} answered with status ${response.status}, expected 400`);
  return detail.replace(/^expected one of /, "");
}

async function fetchReady(url: URL, { attempts = 60, pauseMs = 1000, signal }: Patience): Promise<Response> {
  for (let left = attempts; ; left--) {
    const response = await fetch(url, { signal: signal ?? null });
    if (response.status !== 503 || left <= 1) return response;
    await response.body?.cancel();
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    signal?.throwIfAborted();
  }
}
