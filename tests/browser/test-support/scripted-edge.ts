import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page, Request, Route } from "playwright-core";

/** Where the pages of these tests find their element and its lists; nothing listens there. */
export const scriptedAddress = "https://scripted.example";

const assets = join(import.meta.dirname, "../../../web/page/dist/public/assets");
const cors = { "access-control-allow-origin": "*", "access-control-expose-headers": "Retry-After" };

type Answer = { status?: number; headers?: Record<string, string>; body: object };

/** An edge that answers what a test wants: `list` is the answer of /api/trending, by its query. */
export class ScriptedEdge {
  /** Replace it to change what is answered. */
  list: (query: URLSearchParams) => Answer | null = () => ({ body: listOf() });
  /** The queries of the lists that were asked for. */
  readonly asked: string[] = [];
  /** How many of them have their answer. */
  answered = 0;
  /** What was sent to /api/views. */
  readonly told: { token: string; seen: number; opened: number[] }[] = [];

  /** Answers a page's requests, and gives it a document with this markup. */
  async serve(page: Page, markup: string): Promise<void> {
    const script = `<script type="module" src="${scriptedAddress}/assets/trendvault-list.js"></script>`;
    await page.route("http://partner.localhost/", (route) =>
      route.fulfill({
        contentType: "text/html",
        body: `<!doctype html><title>A partner</title>${script}${markup}`,
      }),
    );
    await page.route(`${scriptedAddress}/**`, (route, request) => this.#answer(route, request));
    await page.goto("http://partner.localhost/");
  }

  async #answer(route: Route, request: Request): Promise<void> {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname.startsWith("/assets/")) {
      const body = readFileSync(join(assets, pathname.slice("/assets/".length)));
      return route.fulfill({ contentType: "text/javascript", headers: cors, body });
    }
    if (pathname === "/api/views") {
      this.told.push(JSON.parse(request.postData() ?? ""));
      return route.fulfill({ status: 204, headers: cors });
    }
    if (pathname.endsWith("/explain")) {
      const sentences = [`Why ${pathname.split("/")[3]} is there in ${searchParams.get("region")}.`];
      return route.fulfill({ headers: cors, json: { sentences } });
    }
    if (pathname !== "/api/trending") return route.fulfill({ status: 404, headers: cors });
    this.asked.push(searchParams.toString());
    const answer = this.list(searchParams);
    if (answer === null) await route.abort();
    else {
      const { status = 200, headers = {}, body } = answer;
      await route.fulfill({ status, headers: { ...cors, ...headers }, json: body });
    }
    this.answered++;
  }
}

type ListOptions = { generation?: number; offset?: number; count?: number; total?: number; made?: number };

/** A page of a list of DE, as the API answers with fields=chart. `made` is Unix time in milliseconds. */
export function listOf({
  generation = 1,
  offset = 0,
  count = 3,
  total = 3,
  made = Date.now(),
}: ListOptions = {}) {
  const after = offset + count;
  return {
    ...{
      region: "DE",
      window: "day",
      category: null,
      generation,
      previous_generated_at: null,
      score_unit: "views",
    },
    generated_at: new Date(made).toISOString(),
    token: `token-${generation}-${offset}`,
    ...{
      count,
      total,
      items: Array.from({ length: count }, (_, index) => itemOf(offset + index + 1, generation)),
    },
    next:
      after < total
        ? `/api/trending?region=DE&fields=chart&limit=${count}&cursor=${generation}-${after}`
        : null,
  };
}

function itemOf(rank: number, generation: number) {
  return {
    ...{ id: `video-${rank}`, rank, previous_rank: rank, title: `Title ${rank} of list ${generation}` },
    ...{ channel: "A channel", category: "Music", published_at: null, score: 1000, expected_views: null },
    velocity: { views_per_hour: 100, previous_views_per_hour: null, views: 5000 },
    thumbs: [`${scriptedAddress}/none.webp`, `${scriptedAddress}/none.webp`],
    url: `${scriptedAddress}/watch/${rank}`,
    sparkline: Array(24).fill(1),
  };
}
