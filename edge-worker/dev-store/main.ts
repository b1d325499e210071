import edge from "../src/main.ts";

export { ViewCounter } from "../src/main.ts";

type DevEnv = Env & { BUNDLES: R2Bucket; DEV_STORE_ACCESS_KEY: string };

// biome-ignore lint/style/noDefaultExport: a Worker's handlers are its default export
export default {
  fetch(request, env, context) {
    return isForStore(request)
      ? respondAsStore(request, { bucket: env.BUNDLES, accessKey: env.DEV_STORE_ACCESS_KEY })
      : edge.fetch(request, env, context);
  },
} satisfies ExportedHandler<DevEnv>;

/** The bucket's name in S3_ENDPOINT_URL/BUCKET/KEY. */
const bucketName = "dev-store";

const bundleSuffix = ".bundle";
const mostBundles = 10;

type Store = { bucket: R2Bucket; accessKey: string };

function isForStore({ url }: Request): boolean {
  return new URL(url).pathname.startsWith(`/${bucketName}`);
}

/**
 * For use on one's own machine only: what the writer needs of S3, over the R2 binding that the edge reads. It takes the
 * access key, which is random, as a password, and verifies no signature.
 */
async function respondAsStore(request: Request, { bucket, accessKey }: Store): Promise<Response> {
  if (!request.headers.get("authorization")?.includes(`Credential=${accessKey}/`))
    return refuse(403, "AccessDenied");
  const { pathname, searchParams } = new URL(request.url);
  const key = decodeURIComponent(pathname.slice(bucketName.length + 2));
  if (key === "") return list(bucket, searchParams);
  switch (request.method) {
    case "PUT":
      return put(bucket, key, request);
    case "HEAD":
    case "GET":
      return get(bucket, key, request.method);
    case "DELETE":
      await bucket.delete(key);
      return new Response(null, { status: 204 });
    default:
      return refuse(501, "NotImplemented");
  }
}

async function put(bucket: R2Bucket, key: string, request: Request): Promise<Response> {
  const { headers } = request;
  const sha256 = headers.get("x-amz-content-sha256") ?? "";
  const checksum = /^[0-9a-f]{64}$/.test(sha256) ? { sha256 } : {};
  const options = { onlyIf: headers, httpMetadata: headers, ...checksum };
  try {
    const stored = await bucket.put(key, await request.arrayBuffer(), options);
    if (key.endsWith(bundleSuffix)) await keepNewest(bucket, key);
    return stored === null
      ? refuse(412, "PreconditionFailed")
      : new Response(null, { headers: { etag: stored.httpEtag } });
  } catch {
    return refuse(400, "BadDigest"); // the other reasons of R2's to throw need no answer here
  }
}

/** Bundles of the demo have tens of megabytes, each minute: the older ones go, and with them their pointers. */
async function keepNewest(bucket: R2Bucket, key: string): Promise<void> {
  const folder = key.slice(0, key.lastIndexOf("/") + 1);
  const { objects } = await bucket.list({ prefix: folder });
  const byAge = objects
    .filter((object) => object.key.endsWith(bundleSuffix))
    .sort((left, right) => right.uploaded.getTime() - left.uploaded.getTime());
  const gone = byAge.slice(mostBundles).map((object) => object.key);
  const pointers = gone.map((name) => `${folder}${Number.parseInt(name.slice(folder.length), 10)}.json`);
  await bucket.delete([...gone, ...pointers]);
}

async function get(bucket: R2Bucket, key: string, method: string): Promise<Response> {
  const object = await bucket.get(key);
  if (object === null) return refuse(404, "NoSuchKey");
  const headers = new Headers({ etag: object.httpEtag, "last-modified": object.uploaded.toUTCString() });
  object.writeHttpMetadata(headers);
  headers.set("content-length", String(object.size));
  return new Response(method === "HEAD" ? null : object.body, { headers });
}

async function list(bucket: R2Bucket, query: URLSearchParams): Promise<Response> {
  const value = (name: string) => query.get(name) ?? undefined;
  const limit = Math.min(1000, Number(value("max-keys") ?? 1000));
  const options = { prefix: value("prefix"), cursor: value("continuation-token"), limit };
  const listed = await bucket.list(options as R2ListOptions);
  return new Response(listingXml(listed), { headers: { "content-type": "application/xml" } });
}

function refuse(status: number, code: string): Response {
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code></Error>`;
  return new Response(text, { status, headers: { "content-type": "application/xml" } });
}

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** A listing as ListObjectsV2 of S3 writes it. */
function listingXml(listed: R2Objects): string {
  const contents = listed.objects.map(
    ({ key, uploaded, httpEtag, size }) =>
      `<Contents><Key>${escapeXml(key)}</Key><LastModified>${uploaded.toISOString()}</LastModified>` +
      `<ETag>${escapeXml(httpEtag)}</ETag><Size>${size}</Size></Contents>`,
  );
  const token = listed.truncated
    ? `<NextContinuationToken>${escapeXml(listed.cursor)}</NextContinuationToken>`
    : "";
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">` +
    `<IsTruncated>${listed.truncated}</IsTruncated><KeyCount>${listed.objects.length}</KeyCount>` +
    `${token}${contents.join("")}</ListBucketResult>`
  );
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => escapes[character] ?? "");
}
