import type {
  About,
  TrendingChartPage,
  TrendingPage,
  TrendingSnippetPage,
} from "@trendvault/contract/responses";
import { type Client, type Connection, connect, sameOriginPath } from "../connection.ts";
import { ProblemError, readJson, restartOf } from "../problem-error.ts";

const patientMs = 2000; // a list that is there does not wait for longer

/** What is read, and whatever else belongs to it. */
type Asked = { src: string; path: string; verify: boolean };

/** Reads one list of one server: its pages, and whether it has changed. Another list has another reader. */
export class ListReader<Of extends Asked = Asked> {
  readonly #clients: Promise<Clients>;
  readonly #end = new AbortController();
  #about: Promise<About | null> | null = null;

  constructor(
    readonly asked: Of,
    connection: Connection,
  ) {
    // The element shows what it has, and asks again later.
    const usual = { baseUrl: asked.src, retries: 1, longestWaitSeconds: 5, timeoutSeconds: 15 };
    this.#clients = clientsOf({ ...usual, ...connection }, asked.verify);
    this.#clients.catch(() => {}); // each read has the error
  }

  /** Whether it was ended: what it still reads is of no use. */
  get isEnded(): boolean {
    return this.#end.signal.aborted;
  }

  /** The first page. `isAgain`: asks whether it has changed, whatever caches have. */
  first({ isAgain }: { isAgain: boolean }): Promise<ReadList> {
    return this.#read(this.asked.path, isAgain);
  }

  /** The page after one; the first of the newest generation when this one was deleted. */
  async after(page: List): Promise<{ read: ReadList; isRestart: boolean }> {
    try {
      return { read: await this.#read(page.next ?? ""), isRestart: false };
    } catch (error) {
      if (restartOf(error) === null) throw error;
      return { read: await this.first({ isAgain: true }), isRestart: true };
    }
  }

  /** Anything else of the same server, with an array `field`, verified like lists. @throws ProblemError, or what fetch() throws */
  async json<T>(path: string, field: string): Promise<T> {
    return (await this.#ask<T>(path, { field, isAgain: false })).body;
  }

  /** What the server says of itself; null while it cannot be asked, and when that takes long: the next list has it. */
  about(): Promise<About | null> {
    this.#about ??= this.json<About>("/api/about", "thumb_hosts").catch(() => {
      this.#about = null;
      return null;
    });
    const late = new Promise<null>((resolve) => setTimeout(resolve, patientMs, null));
    return Promise.race([this.#about, late]);
  }

  end(): void {
    this.#end.abort();
  }

  /** With the region's titles where the server cannot give others: it is older, or has only kept lists meanwhile. */
  async #read(path: string, isAgain = false): Promise<ReadList> {
    const ask = (asked: string) => this.#ask<List>(asked, { field: "items", isAgain });
    const { body, headers } = await ask(path).catch((error) => {
      if (!isTitled(path) || !mayBeForTitles(error)) throw error;
      return ask(path.replace(titles, ""));
    });
    return { list: body, ...describeAge(body, headers) };
  }

  async #ask<T>(
    path: string,
    { field, isAgain }: { field: string; isAgain: boolean },
  ): Promise<{ body: T; headers: Headers }> {
    const { usual, once } = await this.#clients;
    const { baseUrl, send } = isTitled(path) ? once : usual;
    const options: RequestInit = { signal: this.#end.signal, ...(isAgain && { cache: "no-cache" }) };
    const request = new Request(baseUrl + sameOriginPath(path), options);
    const response = await send(request);
    return { body: await readJson<T>(response, { url: request.url, field }), headers: response.headers };
  }
}

const titles = /\btitles=[^&]*&?/;
const isTitled = (path: string) => titles.test(path);

/** Whether the plain list may be there all the same: kept by a cache, or as an older server has it. */
function mayBeForTitles(error: unknown): boolean {
  if (!(error instanceof ProblemError)) return error instanceof TypeError;
  return error.status === 400 || error.status >= 500;
}

/** `once` sends nothing again: after titles, the plain list is asked for. */
type Clients = Record<"usual" | "once", Client>;

// connect() refuses some addresses: within the promise.
async function clientsOf(given: Connection, verify: boolean): Promise<Clients> {
  const connection = { ...(verify && (await verification(given))), ...given };
  return { usual: connect(connection), once: connect({ ...connection, retries: 0 }) };
}

// The keys come as answers do, which wait for them: in limited time.
async function verification(given: Connection): Promise<Connection> {
  const { createVerifier } = await import("../verify.ts");
  const { baseUrl, send } = connect(given);
  return { verify: createVerifier({ baseUrl, fetch: (address) => send(new Request(address)) }) };
}

/** What the element shows: with `fields=chart`, items have sparklines, and little with `fields=snippet`. */
export type List = TrendingChartPage | TrendingPage | TrendingSnippetPage;

/** Where a list came from: the cache or the origin, or what the edge has kept because the origin fails. */
export type ListState = "live" | "stale" | "fallback";

/** `ageSeconds`: how long ago the list was made. `freshSeconds`: for how long asking again gives the same. */
export type ReadList = { list: List; state: ListState; ageSeconds: number; freshSeconds: number };

/** Why nothing new could be read; `refused`: an attribute is wrong. */
export type Failure = "offline" | "unavailable" | "unverified" | "refused";

/** The list that the server rendered into the page, from the data block in the element; null when it did not. */
export function readGivenList(element: Element): List | null {
  const block = element.querySelector(':scope > script[type="application/json"]');
  return block === null ? null : (JSON.parse(block.textContent ?? "") as List);
}

const staleSeconds = 900; // the edge serves a list for 12 minutes, and longer only while the origin fails

/** By the server's clock where it tells it: the visitor's may be wrong. */
export function describeAge(list: List, headers: Headers): Omit<ReadList, "list"> {
  const now = Date.parse(headers.get("date") ?? "") || Date.now();
  const field = headers.get("age") ?? "";
  const age = /^\d{1,9}$/.test(field) ? Number(field) : 0; // RFC 9111, section 1.2.2
  const sinceMade = Math.round((now - Date.parse(list.generated_at)) / 1000) || 0;
  const ageSeconds = Math.max(0, age, sinceMade);
  const maxAge = Number(/\bmax-age=(\d+)/.exec(headers.get("cache-control") ?? "")?.[1] ?? 0);
  return {
    state: stateOf(headers.get("cache-status"), ageSeconds),
    ageSeconds,
    freshSeconds: Math.max(0, maxAge - age),
  };
}

function stateOf(cacheStatus: string | null, ageSeconds: number): ListState {
  if (cacheStatus?.includes("kv-fallback")) return "fallback";
  return cacheStatus?.includes("stale-if-error") || ageSeconds > staleSeconds ? "stale" : "live";
}

/** What a visitor is told of an error. */
export function failureOf(error: unknown): Failure {
  // By name: the class is in the part of the package that is loaded for verification only.
  if (error instanceof Error && error.name === "VerificationError") return "unverified";
  // connect() throws a RangeError for an address that is none.
  const isRefused = error instanceof ProblemError && [400, 404].includes(error.status);
  if (isRefused || error instanceof RangeError) return "refused";
  return error instanceof ProblemError || navigator.onLine !== false ? "unavailable" : "offline";
}
