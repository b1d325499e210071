import { parseKeyRing } from "@trendvault/contract/keys";
import { paths } from "@trendvault/contract/paths";
import { EdgeSigner, edgeSignatureHeader } from "@trendvault/contract/request-signatures";

// Prints the public keys of an origin, for ORIGIN_JWKS. With EDGE_KEYS it signs its request as the edge does.
//   EDGE_KEYS=… bun edge-worker/origin-keys.ts https://origin.example.com

const timeoutMilliseconds = 5000; // for an origin that is just starting
const retryMilliseconds = 50;

try {
  console.log(await fetchKeySet(Bun.argv[2]));
} catch (error) {
  console.error((error as Error).message);
  process.exit(1);
}

async function fetchKeySet(originUrl = ""): Promise<string> {
  const url = URL.parse(paths.publicKeys, originUrl);
  if (url === null) throw new Error("Expected the URL of the origin, like http://127.0.0.1:3000");
  const response = await fetchUntil(Date.now() + timeoutMilliseconds, url);
  if (!response.ok)
    throw new Error(`${url} answered with status ${response.status}: is EDGE_KEYS the origin's?`);
  return response.text();
}

/** Retries while there is no connection. Throws an Error when there is none at a time (Unix milliseconds). */
async function fetchUntil(time: number, url: URL): Promise<Response> {
  try {
    return await fetch(url, { headers: await signatureHeaders() });
  } catch (error) {
    if (Date.now() > time) throw new Error(`Cannot read ${url}`, { cause: error });
    await Bun.sleep(retryMilliseconds);
    return fetchUntil(time, url);
  }
}

async function signatureHeaders(): Promise<Record<string, string>> {
  const keys = process.env.EDGE_KEYS;
  if (!keys) return {};
  return { [edgeSignatureHeader]: await new EdgeSigner(parseKeyRing(keys)).sign(Date.now() / 1000) };
}
