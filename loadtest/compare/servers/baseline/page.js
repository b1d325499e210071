import { Database } from "bun:sqlite";
import { createHash, createPrivateKey, createPublicKey, sign } from "node:crypto";

// The endpoint of one page, with bun:sqlite and Bun.serve.
const database = new Database(process.env.DB_PATH, { readonly: true });
const windows = process.env.WINDOWS.split(",");
const key = createPrivateKey({
  key: Buffer.concat([
    Buffer.from("302e020100300506032b657004220420", "hex"),
    Buffer.from(process.env.TOKEN_SIGNING_KEYS, "base64url"),
  ]),
  format: "der",
  type: "pkcs8",
});
const { x } = createPublicKey(key).export({ format: "jwk" });
const thumbprint = createHash("sha256")
  .update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`)
  .digest("base64url");
const header = encode({ alg: "EdDSA", kid: thumbprint.slice(0, 8), typ: "tv+jwt" });

const findHead = database.prepare(`
  SELECT id, published_at, previous_at, newest_observed_at, max_per_channel AS videos,
    max_per_channel_ranks AS within_ranks,
    CASE WHEN ifnull(look_weight, 0) = 0 THEN 'views' WHEN look_weight < 1 THEN 'mixed' ELSE 'clicks' END AS score_unit
  FROM generations JOIN regions LEFT JOIN generation_regions ON generation = id AND region = code
  WHERE code = ? ORDER BY id DESC LIMIT 1`);
const countRanks = database.prepare(`
  SELECT coalesce(max(rank), 0) AS total FROM trending
  WHERE generation = ? AND region = ? AND window = ? AND category = ''`);
const findRows = database.prepare(`
  SELECT video_id AS id, rank, previous_rank, title, channel, v.category, v.published_at, score, expected_views, views,
    views_per_hour, previous_views_per_hour, thumb_base, url
  FROM trending t JOIN videos v ON v.id = video_id
  WHERE generation = ? AND region = ? AND window = ? AND t.category = '' ORDER BY rank LIMIT ?`);

Bun.serve({ hostname: "127.0.0.1", port: process.env.PORT, fetch: respond });

function respond(request) {
  const { pathname, searchParams } = new URL(request.url);
  const { status, page } = answer(pathname, searchParams);
  return page === undefined ? new Response(null, { status }) : Response.json(page);
}

function answer(pathname, parameters) {
  if (pathname !== "/api/trending") return { status: 404 };
  const region = (parameters.get("region") ?? "GB").toUpperCase();
  const window = parameters.get("window") ?? "day";
  const limit = Number(parameters.get("limit") ?? 24);
  const head = findHead.get(region);
  if (!head || !windows.includes(window) || !(limit >= 1 && limit <= 50)) return { status: 400 };
  return { status: 200, page: buildPage(head, { region, window, limit }) };
}

function buildPage(head, { region, window, limit }) {
  const { total } = countRanks.get(head.id, region, window);
  const items = findRows.all(head.id, region, window, limit).map(toItem);
  let next = `/api/trending?region=${region}`;
  if (window !== "day") next += `&window=${window}`;
  if (limit !== 24) next += `&limit=${limit}`;
  return {
    region,
    window,
    category: null,
    generation: head.id,
    generated_at: toTime(head.published_at),
    previous_generated_at: toTime(head.previous_at),
    newest_observed_at: toTime(head.newest_observed_at),
    channel_limit: { videos: head.videos, within_ranks: head.within_ranks },
    score_unit: head.score_unit,
    count: items.length,
    total,
    token: signToken(`${region}/${window}//${head.id}/0+${items.length}`),
    items,
    next: items.length < total ? `${next}&cursor=${head.id}-${items.length}` : null,
  };
}

function toItem({ thumb_base, published_at, views_per_hour, previous_views_per_hour, ...row }) {
  return {
    id: row.id,
    rank: row.rank,
    previous_rank: row.previous_rank,
    title: row.title,
    channel: row.channel,
    category: row.category,
    published_at: toTime(published_at),
    score: toTenth(row.score),
    expected_views: row.expected_views === null ? null : toTenth(row.expected_views),
    velocity: {
      views_per_hour: toTenth(views_per_hour),
      previous_views_per_hour: previous_views_per_hour === null ? null : toTenth(previous_views_per_hour),
      views: row.views,
    },
    thumbs: [`${thumb_base}/hq.webp`, `${thumb_base}/sd.webp`],
    url: row.url,
  };
}

function toTime(seconds) {
  return seconds === null ? null : `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}

function toTenth(value) {
  return Math.round(value * 10) / 10;
}

// All that ask in the same minute get the same token: it is signed once.
let tokens = { iat: 0, bySubject: new Map() };

function signToken(sub) {
  const iat = Math.floor(Date.now() / 60_000) * 60;
  if (iat !== tokens.iat) tokens = { iat, bySubject: new Map() };
  const known = tokens.bySubject.get(sub);
  if (known !== undefined) return known;
  const input = `${header}.${encode({ iat, exp: iat + 900, sub })}`;
  const token = `${input}.${sign(null, Buffer.from(input), key).toString("base64url")}`;
  tokens.bySubject.set(sub, token);
  return token;
}

function encode(value) {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
