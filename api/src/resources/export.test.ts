import { describe, expect, test } from "bun:test";
import type { PublicKeySet } from "@trendvault/contract/keys";
import { windows } from "@trendvault/contract/lists";
import { verifyResponse } from "@trendvault/contract/response-signature";
import { type ExportHead, type ExportItem, schemas, type TrendingPage } from "@trendvault/contract/responses";
import { DatabaseBuilder, videos } from "@trendvault/kit/database";
import { until } from "@trendvault/kit/machine";
import { askIn, openTestOrigin, type TestOrigin } from "@trendvault/kit/origin";
import { hostileText, Random } from "@trendvault/kit/random";

const whole = "/api/export/DE.ndjson";

async function withOrigin(
  publish: (builder: DatabaseBuilder) => void,
  use: (origin: TestOrigin, builder: DatabaseBuilder) => Promise<void>,
): Promise<void> {
  const builder = new DatabaseBuilder();
  publish(builder);
  const origin = await openTestOrigin(builder.path, { VIDEO_URL: "https://site.example/watch/{id}" });
  try {
    await use(origin, builder);
  } finally {
    origin.watcher.close();
    builder.remove();
  }
}

/** Three windows of different lengths, one that ends with a step, and a region without lists. */
function publishRanking(builder: DatabaseBuilder): void {
  builder.publish([
    { region: "DE", window: "now", videos: videos(200) },
    { region: "DE", videos: videos(333).toReversed() },
    { region: "DE", window: "week", videos: videos(1) },
    { region: "DE", category: "Music", videos: videos(30, "music") },
  ]);
}

async function read(origin: TestOrigin, target: string): Promise<{ head: ExportHead; items: ExportItem[] }> {
  const response = await origin.ask(target);
  expect([target, response.status]).toEqual([target, 200]);
  const text = await response.text();
  expect(text.endsWith("\n")).toBe(true);
  const [head, ...items] = text
    .slice(0, -1)
    .split("\n")
    .map((line) => JSON.parse(line));
  return { head: schemas.ExportHead.parse(head), items: items.map((item) => schemas.ExportItem.parse(item)) };
}

/** A list as it is read page by page. */
async function readPages(origin: TestOrigin, window: string): Promise<TrendingPage[]> {
  const pages: TrendingPage[] = [];
  let next: string | null = `/api/trending?region=DE&window=${window}&limit=50`;
  while (next !== null) {
    const page: TrendingPage = (await (await origin.ask(next)).json()) as TrendingPage;
    pages.push(page);
    next = page.next;
  }
  return pages;
}

describe("an export", () => {
  test("has every rank of a region's lists, in their order, as the pages have them", async () => {
    await withOrigin(publishRanking, async (origin) => {
      const { head, items } = await read(origin, whole);
      const expected: unknown[] = [];
      for (const window of windows) {
        const pages = await readPages(origin, window);
        const [first] = pages;
        expected.push(...pages.flatMap((page) => page.items.map((item) => ({ window, ...item }))));
        for (const name of [
          "region",
          "generation",
          "generated_at",
          "newest_observed_at",
          "channel_limit",
        ] as const) {
          expect(head[name]).toEqual(first?.[name] as never);
        }
      }
      expect(items).toEqual(expected as ExportItem[]);
      expect(head.count).toBe(534);
      const counts: Partial<Record<string, number>> = { now: 200, day: 333, week: 1 };
      expect(head.lists).toEqual(
        windows.map((window) => ({ window, count: counts[window] ?? 0, total: counts[window] ?? 0 })),
      );
    });
  });

  test("is of one window where it is asked for one, and empty where there is no list", async () => {
    await withOrigin(publishRanking, async (origin) => {
      const { head, items } = await read(origin, `${whole}?window=day`);
      expect([head.count, items.length, items[0]?.id]).toEqual([333, 333, "video333"]);
      expect(new Set(items.map(({ window }) => window))).toEqual(new Set(["day"]));
      const empty = await read(origin, "/api/export/CZ.ndjson");
      expect([empty.head.count, empty.items]).toEqual([0, []]);
    });
  });

  test("is signed, typed and cached as a list is, in every coding", async () => {
    await withOrigin(publishRanking, async (origin) => {
      const keys = (await (await origin.ask("/.well-known/jwks.json")).json()) as PublicKeySet;
      const list = await origin.ask("/api/trending?region=DE");
      const tags = new Set<string | null>();
      for (const encoding of ["identity", "br", "zstd", "gzip"]) {
        const { status, headers, body, coded } = await askIn(origin, encoding, "/api/export/de.ndjson?");
        expect(await verifyResponse({ status, headers, body }, keys)).toBe("valid");
        expect(headers.get("content-location")).toBe(whole);
        expect(headers.get("content-type")).toBe("application/x-ndjson");
        expect(headers.get("content-encoding")).toBe(encoding === "identity" ? null : encoding);
        expect(coded.length < body.length / 4).toBe(encoding !== "identity");
        for (const name of ["cache-control", "cdn-cache-control", "trendvault-cache-control", "vary"]) {
          expect(headers.get(name)).toBe(list.headers.get(name));
        }
        tags.add(headers.get("etag"));
        const known = { "accept-encoding": encoding, "if-none-match": headers.get("etag") ?? "" };
        expect((await origin.ask(whole, { headers: known })).status).toBe(304);
      }
      expect(tags.size).toBe(4);
      const head = await origin.ask(whole, { method: "HEAD" });
      expect([head.status, head.headers.get("signature")]).toEqual([200, null]);
      const range = await origin.ask(whole, { headers: { range: "bytes=0-9" } });
      expect([range.status, range.headers.get("content-range")]).toEqual([200, null]);
    });
  });

  test("has nothing that was taken down from the next moment on, and says so", async () => {
    await withOrigin(publishRanking, async (origin, builder) => {
      await read(origin, whole);
      builder.takeDown("video", "video7");
      await until(() => {
        origin.pass(100);
        return origin.cache.snapshot?.generation.hiddenVersion === "1 0";
      });
      const { head, items } = await read(origin, whole);
      expect(items.some(({ id }) => id === "video7")).toBe(false);
      expect([head.count, items.length]).toEqual([532, 532]);
      expect(head.lists[0]).toEqual({ window: "now", count: 199, total: 200 });
    });
  });

  test.each([
    [`${whole}?window=hour`, 400],
    [`${whole}?limit=5`, 400],
    [`${whole}??window=now`, 400],
    ["/api/export/XX.ndjson", 404],
    ["/api/export/DE.json", 404],
    ["/api/export", 404],
  ])("%s is a problem of status %d", async (target, status) => {
    await withOrigin(publishRanking, async (origin) => {
      expect((await origin.ask(target)).status).toBe(status);
    });
  });
});

const random = new Random();

test(`a title of any kind is in one line (seed ${random.seed})`, async () => {
  const titles = Array.from({ length: 60 }, () =>
    `${hostileText(random)}\u2028\n\r\n`.slice(-200).toWellFormed().replaceAll("\0", "\ufffd"),
  );
  const seeds = titles.map((title, index) => ({ id: `video${index}`, title, channel: title }));
  await withOrigin(
    (builder) => builder.publish([{ region: "DE", videos: seeds }]),
    async (origin) => {
      const { items } = await read(origin, whole);
      expect(items.map(({ title }) => title)).toEqual(titles);
    },
  );
});
