import { expect, test } from "bun:test";
import type { KVNamespace } from "@cloudflare/workers-types";
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
const good: StoredResponse = {
  target: request.target,
  body: '{"region":"DE"}',
  headers: await signer.sign('{"region":"DE"}'),
  generatedAt: 1,
  fetchedAt: 1,
  lifetimes: {
    maxAge: 1,
    staleWhileRevalidate: 1,
    staleIfError: 1,
    browserMaxAge: 1,
    browserStaleWhileRevalidate: 1,
  },
};

function read(stored: unknown): Promise<StoredResponse | null> {
  const store = { get: async () => stored } as unknown as KVNamespace;
  return new KvFallback(store, { intervalSeconds: 600, keys: signer.publicKeys }).get(request);
}

test("what the origin has signed is read back", async () => {
  expect(await read(good)).toEqual(good);
  expect(await read(null)).toBeNull();
});

test.each([
  ["another body", { ...good, body: '{"region":"FR"}' }, "digest-differs"],
  ["no signature", { ...good, headers: { ...good.headers, signature: "" } }, "unsigned"],
  ["another region's page", { ...good, target: "/api/trending?region=FR" }, "another request"],
  ["another form", {}, "another request"],
])("%s in KV is not served", async (_name, stored, reason) => {
  await expect(read(stored)).rejects.toThrow(reason);
});
