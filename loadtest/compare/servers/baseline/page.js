import { createHash, createPrivateKey, createPublicKey, sign } from "node:crypto";
import { createServer } from "node:http";

// The endpoint of one page, with what Bun or Node.js brings.
const { DB_PATH: path, PORT: port, PAGE_SQL: sql, TOKEN_SIGNING_KEYS: seed } = process.env;
const windows = process.env.WINDOWS.split(",");
const isBun = process.versions.bun !== undefined;
const database = isBun
  ? new (await import("bun:sqlite")).Database(path, { readonly: true })
  : new (await import("node:sqlite")).DatabaseSync(path, { readOnly: true });
const find = database.prepare(sql);
const der = [Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.from(seed, "base64url")];
const key = createPrivateKey({ key: Buffer.concat(der), format: "der", type: "pkcs8" });
const { x } = createPublicKey(key).export({ format: "jwk" });
const thumbprint = createHash("sha256")
  .update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`)
  .digest("base64url");
const header = encode({ alg: "EdDSA", kid: thumbprint.slice(0, 8), typ: "tv+jwt" });

const headers = { "content-type": "application/json" };
if (isBun) Bun.serve({ hostname: "127.0.0.1", port, fetch: respond });
else createServer(respondInNode).listen(Number(port), "127.0.0.1");

function respond({ url }) {
  const body = answer(url);
  return body === null ? new Response(null, { status: 400 }) : new Response(body, { headers });
}

function respondInNode({ url }, response) {
  const body = answer(url);
  if (body === null) response.writeHead(400).end();
  else response.writeHead(200, { ...headers, "content-length": Buffer.byteLength(body) }).end(body);
}

function answer(url) {
  const parameters = new URL(url, "http://origin").searchParams;
  const window = parameters.get("window") ?? "day";
  const limit = Number(parameters.get("limit") ?? 24);
  if (!windows.includes(window) || !(limit >= 1 && limit <= 50)) return null;
  const page = find.get((parameters.get("region") ?? "GB").toUpperCase(), window, limit);
  return page ? page.before + signToken(page.subject) + page.after : null;
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
