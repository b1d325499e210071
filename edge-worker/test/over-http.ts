import edge from "../src/main.ts";

export { ViewCounter } from "../src/main.ts";

type TestEnv = Env & { STORE_URL: string };

/** The edge, whose bucket is a store of tests, which may misbehave (tests/store). */
// biome-ignore lint/style/noDefaultExport: a Worker's handlers are its default export
export default {
  fetch(request, env, context) {
    const BUNDLES = new HttpBucket(env.STORE_URL);
    return edge.fetch(request, { ...env, BUNDLES } as never, context);
  },
} satisfies ExportedHandler<TestEnv>;

type GetOptions = {
  onlyIf?: { etagDoesNotMatch?: string };
  range?: { offset: number; length: number };
};

/** What the edge uses of an R2 bucket, over HTTP. */
class HttpBucket {
  readonly #url: string;

  /** `url` is that of the bucket. */
  constructor(url: string) {
    this.#url = url;
  }

  async get(key: string, { onlyIf, range }: GetOptions = {}) {
    const headers = new Headers();
    if (onlyIf?.etagDoesNotMatch !== undefined) headers.set("if-none-match", `"${onlyIf.etagDoesNotMatch}"`);
    if (range !== undefined) headers.set("range", `bytes=${range.offset}-${range.offset + range.length - 1}`);
    const answer = await fetch(`${this.#url}/${key}`, { headers });
    const etag = (answer.headers.get("etag") ?? "").replaceAll('"', "");
    if (answer.status === 304) return { key, etag };
    if (answer.status === 404) return null;
    if (!answer.ok) throw new Error(`get: the store answered with ${answer.status}`);
    const size = Number(answer.headers.get("content-length") ?? 0);
    return { key, etag, size, body: answer.body, arrayBuffer: () => answer.arrayBuffer() };
  }
}
