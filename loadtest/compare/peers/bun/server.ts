import { Database } from "bun:sqlite";
import { createHash, createPrivateKey, createPublicKey, sign } from "node:crypto";

const database = new Database(process.env.DB_PATH, { readonly: true, strict: true });
const key = createPrivateKey({
  key: Buffer.concat([
    Buffer.from("302e020100300506032b657004220420", "hex"),
    Buffer.from(process.env.TOKEN_SIGNING_KEYS ?? "", "base64url"),
  ]),
  format: "der",
  type: "pkcs8",
});
const { x } = createPublicKey(key).export({ format: "jwk" });
const thumbprint = createHash("sha256")
  .update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`)
  .digest("base64url");
const header = encode({ alg: "EdDSA", kid: thumbprint.slice(0, 8), typ: "tv+jwt" });

type Head = {
  id: number;
  published: number;
  previous: number | null;
  observed: number | null;
  videos: number;
  ranks: number;
};
const findHead = database.query<Head, [string]>(`
  SELECT id, published_at AS published, previous_at AS previous, newest_observed_at AS observed,
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
  url: string | null;
  previousRank: number | null;
};
const findRows = database.query<Row, [number, string, string, number]>(`
  SELECT video_id AS id, rank, title, channel, v.category, score, views, thumb_base AS thumbs, url,
    v.published_at AS published, views_per_hour AS rate, previous_views_per_hour AS previousRate,
    previous_rank AS previousRank
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
    previous_generated_at: toTime(head.previous),
    newest_observed_at: toTime(head.observed),
    channel_limit: { videos: head.videos, within_ranks: head.ranks },
    count: items.length,
    total,
    token: signToken(`${region}/${window}//${head.id}/0+${items.length}`),
    items,
    next: items.length < total ? `${next}&cursor=${head.id}-${items.length}` : null,
  };
}

function describe(row: Row) {
  return {
    id: row.id,
    rank: row.rank,
    previous_rank: row.previousRank,
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
    url: row.url,
  };
}

function toTime(seconds: number | null): string | null {
  return seconds === null ? null : `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}

function toTenth(value: number): number {
  return Math.round(value * 10) / 10;
}

// All that ask in the same minute get the same token: it is signed once.
const tokens = new Map<string, string>();
let tokensIssuedAt = 0;

function signToken(sub: string): string {
  const iat = Math.floor(Date.now() / 60_000) * 60;
  if (iat !== tokensIssuedAt) tokens.clear();
  tokensIssuedAt = iat;
  const known = tokens.get(sub);
  if (known !== undefined) return known;
  const input = `${header}.${encode({ iat, exp: iat + 900, sub })}`;
  const token = `${input}.${sign(null, Buffer.from(input), key).toString("base64url")}`;
  tokens.set(sub, token);
  return token;
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
