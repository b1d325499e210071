import { expect, test } from "bun:test";
import type { KVNamespace } from "@cloudflare/workers-types";
import { answerLifetimes } from "@trendvault/contract/lifetimes";
import { TestSigner } from "@trendvault/contract/test-support/test-signer";
import type { StoredResponse } from "../origin/stored-response.ts";
import type { CanonicalRequest } from "../rules/canonical-request.ts";
import { KvFallback } from "./kv-fallback.ts";

const request: CanonicalRequest = {
  target: "/api/trending?region=DE",
  query: { region: "DE", window: "day", limit: 24 },
  regionFromCountry: true,
};
const signer = await TestSigner.create();
const created = 1_795_176_030;
const text = '{"region":"DE","generated_at":"2026-11-20T12:00:00Z"}';
const sign = (location: string) => signer.sign(text, { created, location, lifetimes: answerLifetimes });
const good: StoredResponse = {
  target: request.target,
  status: 200,
  body: text,
  headers: await sign(request.target),
  generatedAt: Date.parse("2026-11-20T12:00:00Z") / 1000,
  fetchedAt: created,
  lifetimes: { maxAge: 120, staleWhileRevalidate: 600, staleIfError: 86_400 },
};

function read(stored: unknown): Promise<StoredResponse | null> {
  const store = { get: async () => stored } as unknown as KVNamespace;
  return new KvFallback(store, { intervalSeconds: 600, keys: signer.publicKeys }).get(request);
}

test("what the origin has signed is read back", async () => {
  expect(await read(good)).toEqual(good);
  expect(await read(null)).toBeNull();
});

test("nothing is read that is not signed", async () => {
  const link = '<https://other.example/>; rel="next"';
  const lifetimes = { maxAge: 999_999, staleWhileRevalidate: 0, staleIfError: 0 };
  const changed = { headers: { ...good.headers, link }, lifetimes, generatedAt: 9e9, fetchedAt: 9e9 };
  expect(await read({ ...good, ...changed })).toEqual(good);
});

test.each([
  ["another body", { ...good, body: '{"region":"FR"}' }, "digest-differs"],
  ["no signature", { ...good, headers: { ...good.headers, signature: "" } }, "unsigned"],
  [
    "another region's page",
    { ...good, headers: await sign("/api/trending?region=FR") },
    "the answer to another request",
  ],
  ["another form", {}, "unsigned"],
])("%s in KV is not served", async (_name, stored, reason) => {
  await expect(read(stored)).rejects.toThrow(reason);
});
