import { edgeSignatureHeader, signEdgeRequest } from "@trendvault/contract/edge-signature";
import { parseKeyRing } from "@trendvault/contract/key-ring";

// Prints the public keys of an origin, for ORIGIN_JWKS. With EDGE_KEYS it asks as the edge does.
//   EDGE_KEYS=… bun edge-worker/origin-keys.ts https://origin.example.com

const target = "/.well-known/jwks.json";
const patienceMilliseconds = 5000; // for an origin that is just starting

try {
  console.log(await readKeys(Bun.argv[2]));
} catch (error) {
  console.error((error as Error).message);
  process.exit(1);
}

async function readKeys(originUrl = ""): Promise<string> {
  const url = URL.parse(target, originUrl);
  if (url === null) throw new Error("Expected the URL of the origin, like http://127.0.0.1:3000");
  const response = await ask(url, Date.now() + patienceMilliseconds);
  if (!response.ok)
    throw new Error(`${url} answered with status ${response.status}: is EDGE_KEYS the origin's?`);
  return response.text();
}

async function ask(url: URL, until: number): Promise<Response> {
  try {
    return await fetch(url, { headers: await signature() });
  } catch (error) {
    if (Date.now() > until) throw new Error(`Cannot read ${url}`, { cause: error });
    await Bun.sleep(50);
    return ask(url, until);
  }
}

async function signature(): Promise<Record<string, string>> {
  const keys = process.env.EDGE_KEYS;
  if (!keys) return {};
  const options = { ring: parseKeyRing(keys), seconds: Math.floor(Date.now() / 1000) };
  return { [edgeSignatureHeader]: await signEdgeRequest({ method: "GET", target }, options) };
}
