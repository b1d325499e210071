import { TestSigner } from "@trendvault/contract/test-support/test-signer";
import type { CanonicalRequest } from "../../rules/canonical-request.ts";
import type { OriginResponse } from "../fetch-from-origin.ts";
import type { StoredResponse } from "../stored-response.ts";
import { type ValidationContext, validateOriginResponse } from "../validate-origin-response.ts";

export const now = 1_795_176_030;
export const request: CanonicalRequest = {
  target: "/api/trending?region=DE",
  query: { region: "DE", window: "day", limit: 24 },
  regionFromCountry: true,
};
export const next = "/api/trending?region=DE&cursor=7-24";
export const list = { region: "DE", generation: 7, generated_at: "2026-11-20T12:00:00Z", next };
export const generatedAt = Date.parse(list.generated_at) / 1000;

export const signer = await TestSigner.create();

type Signed = Parameters<TestSigner["sign"]>[1];

/** A valid response, signed with `signed`; then `headers` replace its own. */
export async function responseWith(
  body: unknown = list,
  { signed = {}, headers = {} }: { signed?: Signed; headers?: Record<string, string> } = {},
): Promise<OriginResponse> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return {
    status: 200,
    headers: new Headers({
      ...(await signer.sign(text, { created: now, location: request.target, ...signed })),
      "cache-control": "public, max-age=999999999",
      "cdn-cache-control": "max-age=999999999",
      link: '<https://other.example/>; rel="next"',
      "x-powered-by": "nobody's business",
      ...headers,
    }),
    body: new TextEncoder().encode(text),
  };
}

/** An answer that something does not exist; `status` is what it is signed with. */
export async function missing(location: string, status = 404, created = now): Promise<OriginResponse> {
  const text = JSON.stringify({ type: "/problems/not-found", status: 404, title: "t", detail: "d" });
  const signed = { status, contentType: "application/problem+json", location, lifetimes: "max-age=60" };
  const headers = new Headers(await signer.sign(text, { created, ...signed }));
  return { status: 404, headers, body: new TextEncoder().encode(text) };
}

/** What the edge looks at of a stored response, which the origin signed at a time. */
export function storedAt(created: number): StoredResponse {
  const headers = { "signature-input": `tv=("@status");created=${created};keyid="s1"` };
  return { generatedAt, headers } as unknown as StoredResponse;
}

/** A problem as anyone can write it. */
export function problemWith(status: number, kind: string): OriginResponse {
  const problem = { type: `/problems/${kind}`, status, title: "t", detail: "d" };
  const headers = new Headers({ "content-type": "application/problem+json" });
  return { status, headers, body: new TextEncoder().encode(JSON.stringify(problem)) };
}

export function validate(received: OriginResponse, context: Partial<ValidationContext> = {}) {
  return validateOriginResponse(received, {
    request,
    stored: null,
    now,
    keys: signer.publicKeys,
    ...context,
  });
}
