import { FollowFailure } from "../failure.ts";
import type { ObjectStore, OpenedObject, OpenOptions } from "./object-store.ts";

/** Where an S3 store is, and who asks. `endpoint` is without the bucket: requests are path-style. */
export type S3Options = {
  endpoint: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
};

// A clock that is behind by less than this makes no difference: the store counts from the time that the URL names.
const urlSeconds = 3600;
const listSeconds = 60; // Bun's client takes no signal
const largestRefusal = 4096; // bytes of an error document that are read for its code

/**
 * A bucket, or a part of one, in anything that speaks S3. Bun signs URLs (SigV4 in the query), and fetch() asks with
 * them: Bun's own reader has no conditional requests and no signal to end them.
 */
export class S3Store implements ObjectStore {
  readonly address: string;
  readonly #client: Bun.S3Client;
  readonly #prefix: string;

  /** `prefix` is empty, or ends with a slash. */
  constructor(address: string, { bucket, prefix }: { bucket: string; prefix: string }, options: S3Options) {
    this.address = address;
    this.#prefix = prefix;
    this.#client = new Bun.S3Client({ ...options, bucket, virtualHostedStyle: false });
  }

  async open(name: string, { signal, etag = null }: OpenOptions): Promise<OpenedObject | "unchanged" | null> {
    const response = await this.#fetch(name, { signal, etag });
    if (response.status === 304) return "unchanged";
    if (response.status === 200) return describe(response, name);
    const code = await readErrorCode(response);
    if (response.status === 404 && code !== "NoSuchBucket") return null;
    throw this.#refusal(response, { name, code });
  }

  async list(beginning: string): Promise<string[]> {
    const names: string[] = [];
    let continuationToken: string | undefined;
    do {
      const page = await this.#listPage({
        prefix: this.#prefix + beginning,
        ...(continuationToken === undefined ? {} : { continuationToken }),
      });
      for (const { key } of page.contents ?? []) names.push(key.slice(this.#prefix.length));
      continuationToken = page.isTruncated ? page.nextContinuationToken : undefined;
    } while (continuationToken !== undefined);
    return names;
  }

  async #listPage(input: Bun.S3ListObjectsOptions): Promise<Bun.S3ListObjectsResponse> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () =>
        late.reject(new FollowFailure("timeout", `Listing ${this.address} took more than ${listSeconds} s.`)),
      listSeconds * 1000,
    );
    try {
      return await Promise.race([this.#client.list(input), late.promise]);
    } catch (error) {
      if (error instanceof FollowFailure) throw error;
      const { code = "", message } = error as { code?: string; message: string };
      throw new FollowFailure("status", `Cannot list ${this.address} (${code}): ${message}`, {
        cause: error,
      });
    } finally {
      clearTimeout(timer);
    }
  }

  async #fetch(name: string, { signal, etag }: { signal: AbortSignal; etag: string | null }) {
    const url = this.#client.presign(this.#prefix + name, { method: "GET", expiresIn: urlSeconds });
    try {
      return await fetch(url, {
        headers: etag === null ? {} : { "if-none-match": etag },
        redirect: "manual", // elsewhere the signature would be no good
        decompress: false, // hashes are over what is stored
        signal,
      });
    } catch (error) {
      throw transportFailure(error, `${this.address}/${name}`);
    }
  }

  #refusal(response: Response, { name, code }: { name: string; code: string }): FollowFailure {
    const what = `${this.address}/${name} was answered with ${response.status}${code && ` (${code})`}`;
    const isDenied = response.status === 401 || response.status === 403;
    if (!isDenied) return new FollowFailure("status", `${what}. ${remedyOf(response.status)}`);
    const clockSeconds = clockOf(response) ?? 0;
    const isClock = code === "RequestTimeTooSkewed" || Math.abs(clockSeconds) > 60;
    const remedy = isClock
      ? `The store's clock says ${clockSeconds} s more than ours: set the clock of this machine`
      : "Expected S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY of somebody who may read it, and its S3_REGION";
    return new FollowFailure("denied", `${what}. ${remedy}.`);
  }
}

function describe(response: Response, name: string): OpenedObject {
  return {
    etag: response.headers.get("etag"),
    clockSeconds: clockOf(response),
    body: readBody(response, name),
  };
}

async function* readBody(response: Response, name: string): AsyncIterable<Uint8Array> {
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      yield chunk;
    }
  } catch (error) {
    throw transportFailure(error, name);
  }
  const announced = Number(response.headers.get("content-length") ?? bytes);
  if (bytes === announced) return;
  throw new FollowFailure("unreachable", `${name} ended after ${bytes} of ${announced} bytes: asked again.`);
}

function transportFailure(error: unknown, name: string): FollowFailure {
  if (error instanceof FollowFailure) return error;
  const { name: kind, code = kind } = error as { name: string; code?: string };
  if (kind === "TimeoutError" || kind === "AbortError") {
    return new FollowFailure("timeout", `${name} took too long: asked again.`, { cause: error });
  }
  const remedy = "Is S3_ENDPOINT_URL right, and the network up?";
  return new FollowFailure("unreachable", `Cannot reach ${name} (${code}). ${remedy}`, { cause: error });
}

function remedyOf(status: number): string {
  if (status >= 500 || status === 429) return "The store has a problem: asked again.";
  if (status >= 300 && status < 400) return "Expected S3_ENDPOINT_URL and S3_REGION of the bucket itself.";
  return "Expected 200: are the address and S3_ENDPOINT_URL right?";
}

/** Rounded to whole seconds, as the field Date is. */
function clockOf(response: Response): number | null {
  const date = Date.parse(response.headers.get("date") ?? "");
  return Number.isNaN(date) ? null : Math.round((date - Date.now()) / 1000);
}

/** The code of an error document of S3, or "". */
async function readErrorCode(response: Response): Promise<string> {
  try {
    const text = await readBeginning(response, largestRefusal);
    return /<Code>([A-Za-z]{1,60})<\/Code>/.exec(text)?.[1] ?? "";
  } catch {
    return ""; // the status says enough
  }
}

/** As many bytes as are wanted, or somewhat more; the rest, however much that is, is not waited for. */
async function readBeginning({ body }: Response, wanted: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length >= wanted) break;
  }
  return text;
}
