import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import {
  type TokenList,
  tokenLifetimeSeconds,
  tokenType,
  writeTokenSubject,
} from "@trendvault/contract/token";
import { keySet, tokenSigningKey } from "./keys.ts";

const pkcs8Prefix = Buffer.from("302e020100300506032b657004220420", "hex"); // RFC 8410
const originKey = createPrivateKey({
  key: Buffer.concat([pkcs8Prefix, Buffer.from(tokenSigningKey, "base64url")]),
  format: "der",
  type: "pkcs8",
});
const { kid: originKid } = JSON.parse(keySet).keys.find(
  (key: { purpose?: string }) => key.purpose === "tokens",
);

/** A token as the origin signs it. */
export function signToken(
  list: TokenList,
  issuedAt: number,
  { key = originKey, kid = originKid } = {},
): string {
  const minute = issuedAt - (issuedAt % 60);
  const header = { alg: "EdDSA", kid, typ: tokenType };
  const payload = { iat: minute, exp: minute + tokenLifetimeSeconds, sub: writeTokenSubject(list) };
  const input = [header, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  return `${input}.${sign(null, Buffer.from(input), key).toString("base64url")}`;
}

/** The same as another origin signs it, with a key of its own. */
export function signForeignToken(list: TokenList, issuedAt: number, kid = originKid): string {
  const key: KeyObject = generateKeyPairSync("ed25519").privateKey;
  return signToken(list, issuedAt, { key, kid });
}
