import { createHash, createPrivateKey, createPublicKey, sign } from "node:crypto";
import { createServer } from "node:http";
import Database from "better-sqlite3";

const database = new Database(process.env.DB_PATH, { readonly: true });
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

const latest = database.prepare(`
  SELECT g.id, g.published_at, g.previous_at, g.max_per_channel, g.max_per_channel_ranks, m.newest_observed_at
  FROM generations g, regions r
  LEFT JOIN generation_regions m ON m.generation = g.id AND m.region = r.code
  WHERE r.code = ? ORDER BY g.id DESC LIMIT 1`);

const length = database
  .prepare(
    `SELECT rank FROM trending
     WHERE generation = ? AND region = ? AND window = ? AND category = ''
     ORDER BY rank DESC LIMIT 1`,
  )
  .pluck();

const top = database.prepare(`
  SELECT t.rank, t.video_id, t.score, t.views, t.views_per_hour, t.previous_views_per_hour,
    v.title, v.channel, v.category, v.published_at, v.thumb_base, v.url,
    t.previous_rank
  FROM trending t INNER JOIN videos v ON v.id = t.video_id
  WHERE t.generation = ? AND t.region = ? AND t.window = ? AND t.category = ''
  ORDER BY t.rank LIMIT ?`);

const windows = new Set(["now", "day", "week"]);

const server = createServer((request, response) => {
  const url = new URL(request.url, "http://localhost");
  if (url.pathname !== "/api/trending") return response.writeHead(404).end();
  const query = {
    region: (url.searchParams.get("region") ?? "GB").toUpperCase(),
    window: url.searchParams.get("window") ?? "day",
    limit: Number.parseInt(url.searchParams.get("limit") ?? "24", 10),
  };
  const page = listTrending(query);
  if (page === null) return response.writeHead(400).end();
  // Without Content-Length, Node would send chunks.
  const body = Buffer.from(JSON.stringify(page));
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": body.length }).end(body);
});
server.listen(process.env.PORT, "127.0.0.1", () => console.log("listening"));

function listTrending(query) {
  const { region, window, limit } = query;
  if (!windows.has(window) || !(limit > 0 && limit <= 50)) return null;
  const generation = latest.get(region);
  if (generation === undefined) return null;
  const total = length.get(generation.id, region, window) ?? 0;
  const items = top.all(generation.id, region, window, limit).map(toItem);
  return {
    region,
    window,
    category: null,
    generation: generation.id,
    generated_at: toTime(generation.published_at),
    previous_generated_at: toTime(generation.previous_at),
    newest_observed_at: toTime(generation.newest_observed_at),
    channel_limit: { videos: generation.max_per_channel, within_ranks: generation.max_per_channel_ranks },
    count: items.length,
    total,
    token: makeToken(`${region}/${window}//${generation.id}/0+${items.length}`),
    items,
    next: items.length < total ? nextPage(query, `${generation.id}-${items.length}`) : null,
  };
}

function toItem(row) {
  const { video_id: id, rank, title, channel, category, views } = row;
  return {
    id,
    rank,
    previous_rank: row.previous_rank,
    title,
    channel,
    category,
    published_at: toTime(row.published_at),
    score: round(row.score),
    velocity: {
      views_per_hour: round(row.views_per_hour),
      previous_views_per_hour: round(row.previous_views_per_hour),
      views,
    },
    thumbs: ["hq", "sd"].map((size) => `${row.thumb_base}/${size}.webp`),
    url: row.url,
  };
}

function nextPage({ region, window, limit }, cursor) {
  const query = new URLSearchParams({ region });
  if (window !== "day") query.set("window", window);
  if (limit !== 24) query.set("limit", limit);
  query.set("cursor", cursor);
  return `/api/trending?${query}`;
}

function round(value) {
  return value === null ? null : Math.round(value * 10) / 10;
}

function toTime(seconds) {
  return seconds === null ? null : `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}

// Signed once a minute for each list.
let tokens = { iat: 0, bySubject: new Map() };

function makeToken(sub) {
  const iat = Math.floor(Date.now() / 60000) * 60;
  if (iat !== tokens.iat) tokens = { iat, bySubject: new Map() };
  if (!tokens.bySubject.has(sub)) {
    const input = `${header}.${encode({ iat, exp: iat + 900, sub })}`;
    const signature = sign(null, Buffer.from(input), key).toString("base64url");
    tokens.bySubject.set(sub, `${input}.${signature}`);
  }
  return tokens.bySubject.get(sub);
}

function encode(value) {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
