import { memoizedChooseEncoding } from "../resources/encodings.ts";
import { SlowPath, type SlowPathParts } from "./answer-slow-path.ts";
import { send } from "./send.ts";

export type RequestHandlerParts = Omit<SlowPathParts, "chooseEncoding">;

/**
 * From a request to its response; no port is needed to call it. A request whose answer is in the cache takes the way
 * here and in send.ts: behind an edge a comparison of its signature, one look-up by the URL as it was received, two
 * header fields, a clone of a Response that was prepared before. What is not read here is not paid for here: see answer-slow-path.ts.
 */
export class RequestHandler {
  readonly #cache: RequestHandlerParts["cache"];
  readonly #guard: RequestHandlerParts["guard"];
  readonly #chooseEncoding = memoizedChooseEncoding();
  readonly #slowPath: SlowPath;
  #isFastPathOpen = true;

  constructor(parts: RequestHandlerParts) {
    this.#cache = parts.cache;
    this.#guard = parts.guard;
    this.#slowPath = new SlowPath({ ...parts, chooseEncoding: this.#chooseEncoding });
  }

  answer(request: Request): Response | Promise<Response> {
    if (!this.#isFastPathOpen || request.method !== "GET") return this.#slowPath.answer(request);
    if (this.#guard !== null && !this.#guard(request)) return this.#slowPath.answer(request);
    const entry = this.#cache.lookUp(request.url);
    if (entry === undefined) return this.#slowPath.answer(request);
    const encoding = this.#chooseEncoding(request.headers.get("accept-encoding"));
    const representation = encoding === null ? undefined : entry.current.representations[encoding];
    if (representation === undefined) return this.#slowPath.answer(request);
    return send(representation, request, entry);
  }

  /** From now on every answer closes its connection, and /healthz is 503. */
  drain(): void {
    this.#isFastPathOpen = false;
    this.#slowPath.drain();
  }
}
