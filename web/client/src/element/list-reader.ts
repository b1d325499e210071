import type { About } from "../../generated/types.gen.ts";
import { readJson, restartOf } from "../problem-error.ts";
import { baseOf, type Connection, connectionSend } from "../requests/connection.ts";
import { ownPath } from "../requests/own-path.ts";
import type { Send } from "../requests/retrying-send.ts";
import { type List, type ReadList, readList } from "./read-list.ts";

export type ReaderOptions = { src: string; path: string; verify: boolean; connection: Connection };

/** Reads one list of one server: its pages, and whether it has changed. Another list has another reader. */
export class ListReader {
  readonly #path: string;
  readonly #connection: Connection;
  readonly #send: Promise<Send>;
  readonly #end = new AbortController();
  #thumbHosts: readonly string[] | null = null;

  constructor({ src, path, verify, connection }: ReaderOptions) {
    this.#path = path;
    // The element shows what it has, and asks again later.
    this.#connection = { baseUrl: src, retries: 1, longestWaitSeconds: 5, ...connection };
    this.#send = sendOf(this.#connection, verify);
    this.#send.catch(() => {}); // each read has the error
  }

  /** Whether it was ended: what it still reads is of no use. */
  get isEnded(): boolean {
    return this.#end.signal.aborted;
  }

  /** The first page. `isAgain`: asks whether it has changed, whatever caches have. */
  first({ isAgain }: { isAgain: boolean }): Promise<ReadList> {
    return this.#read(this.#path, isAgain);
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

  /** Anything else of the same server, verified like lists. @throws ProblemError, or what fetch() throws */
  async json(path: string): Promise<unknown> {
    const send = await this.#send;
    return readJson(await send(this.#request(path)));
  }

  /** The hosts whose pictures the server shows beside its own; none while it cannot be asked, which the next list does. */
  async thumbHosts(): Promise<readonly string[]> {
    try {
      this.#thumbHosts ??= ((await this.json("/api/about")) as About).thumb_hosts;
      return this.#thumbHosts;
    } catch {
      return [];
    }
  }

  end(): void {
    this.#end.abort();
  }

  async #read(path: string, isAgain = false): Promise<ReadList> {
    return readList(await this.#send, this.#request(path, isAgain));
  }

  #request(path: string, isAgain = false): Request {
    const options: RequestInit = { signal: this.#end.signal, ...(isAgain && { cache: "no-cache" }) };
    return new Request(baseOf(this.#connection) + ownPath(path), options);
  }
}

async function sendOf(connection: Connection, verify: boolean): Promise<Send> {
  if (!verify) return connectionSend(connection);
  const { createVerifier } = await import("../verify/verifier.ts");
  return connectionSend({ verify: createVerifier({ baseUrl: baseOf(connection) }), ...connection });
}
