import { Database } from "bun:sqlite";
import { createHmac } from "node:crypto";

const database = new Database(process.env.DB_PATH, { readonly: true, strict: true });
const [kid, secret] = (process.env.TOKEN_KEYS ?? "").split(",")[0]?.split(":") ?? [];
const key = Buffer.from(secret ?? "", "base64url");

type Head = { id: number; published: number; observed: number | null; videos: number; ranks: number };
const findHead = database.query<Head, [string]>(`
  SELECT id, published_at AS published, newest_observed_at AS observed,
    max_per_channel AS videos, max_per_channel_ranks AS ranks
  FROM generations JOIN regions LEFT JOIN generation_regions ON generation = id AND region = code
  WHERE code = ? ORDER BY id DESC LIMIT 1`);

const countRanks = database.query<{ total: number }, [number, string, string]>(`
  SELECT coalesce(max(rank), 0) AS total FROM trending
  WHERE generation = ? AND region = ? AND window = ? AND category = ''`);

type Row = {
  id: string;
  rank: number;
  title: string;
  channel: string;
  category: string | null;
  published: number | null;
  score: number;
  views: number;
  rate: number;
  previousRate: number | null;
  thumbs: string;
};
const findRows = database.query<Row, [number, string, string, number]>(`
  SELECT video_id AS id, rank, title, channel, v.category, score, views, thumb_base AS thumbs,
    v.published_at AS published, views_per_hour AS rate, previous_views_per_hour AS previousRate
  FROM trending t JOIN videos v ON v.id = video_id
  WHERE generation = ? AND region = ? AND window = ? AND t.category = '' ORDER BY rank LIMIT ?`);

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: process.env.PORT ?? 3000,
  fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname !== "/api/trending") return new Response(null, { status: 404 });
    const region = (searchParams.get("region") ?? "GB").toUpperCase();
    const window = searchParams.get("window") ?? "day";
    const limit = Number(searchParams.get("limit") ?? 24);
    const head = findHead.get(region);
    if (head === null || !/^(now|day|week)$/.test(window) || !(limit >= 1 && limit <= 50))
      return new Response(null, { status: 400 });
    return Response.json(buildPage(head, { region, window, limit }));
  },
});
console.log(server.url.href);

function buildPage(head: Head, { region, window, limit }: { region: string; window: string; limit: number }) {
  const total = countRanks.get(head.id, region, window)?.total ?? 0;
  const items = findRows.all(head.id, region, window, limit).map(describe);
  let next = `/api/trending?region=${region}`;
  if (window !== "day") next += `&window=${window}`;
  if (limit !== 24) next += `&limit=${limit}`;
  return {
    region,
    window,
    category: null,
    generation: head.id,
    generated_at: toTime(head.published),
    newest_observed_at: toTime(head.observed),
    channel_limit: { videos: head.videos, within_ranks: head.ranks },
    count: items.length,
    total,
    token: signToken(region, items.length),
    items,
    next: items.length < total ? `${next}&cursor=${head.id}-${items.length}` : null,
  };
}

function describe(row: Row) {
  return {
    id: row.id,
    rank: row.rank,
    title: row.title,
    channel: row.channel,
    category: row.category,
    published_at: toTime(row.published),
    score: toTenth(row.score),
    velocity: {
      views_per_hour: toTenth(row.rate),
      previous_views_per_hour: row.previousRate === null ? null : toTenth(row.previousRate),
      views: row.views,
    },
    thumbs: [`${row.thumbs}/hq.webp`, `${row.thumbs}/sd.webp`],
  };
}

function toTime(seconds: number | null): string | null {
  return seconds === null ? null : `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}

function toTenth(value: number): number {
  return Math.round(value * 10) / 10;
}

function signToken(region: string, count: number): string {
  const payload = `v1.${kid}.${region}.${count}.${Math.floor(Date.now() / 60_000)}`;
  return `${payload}.${createHmac("sha256", key).update(payload).digest("base64url").slice(0, 22)}`;
}
