import { RawClient, type RawResponse } from "./raw-client.ts";

export type LoadResult = { answers: number; failures: string[] };

export type LoadOptions = {
  connections: number;
  targets: string[];
  check: (response: RawResponse) => string | null;
  reconnect?: boolean;
  /** Gives the header fields of the next request, each with its line end. */
  headers?: () => string;
};

/**
 * Requests targets over keep-alive connections until it is stopped. `check` returns what is wrong with an answer,
 * or null. A connection that was closed is opened again, unless `reconnect` is false.
 */
export function startLoad(
  url: string,
  { connections, targets, check, reconnect = true, headers }: LoadOptions,
) {
  const result: LoadResult = { answers: 0, failures: [] };
  let running = true;
  const run = async (offset: number) => {
    const client = new RawClient(url);
    for (let turn = offset; running && (reconnect || turn === offset || client.isOpen); turn++) {
      try {
        const failure = check(await client.get(targets[turn % targets.length] ?? "/", headers?.()));
        if (failure !== null) result.failures.push(failure);
        else result.answers++;
      } catch (error) {
        result.failures.push(String(error));
        client.close();
      }
    }
    client.close();
  };
  const all = Promise.all(Array.from({ length: connections }, (_, offset) => run(offset)));
  return {
    result,
    async stop(): Promise<LoadResult> {
      running = false;
      await all;
      return result;
    },
  };
}

/** Every answer is a whole list of one generation: ranks without gaps, as many items as it says. */
export function checkWholeList({ status, body }: RawResponse): string | null {
  if (status !== 200) return `status ${status}: ${body.slice(0, 200)}`;
  const page = JSON.parse(body) as {
    count: number;
    generation: number;
    items: { rank: number; title: string }[];
  };
  const first = page.items[0]?.rank ?? 1;
  const isWhole =
    page.items.length === page.count && page.items.every(({ rank }, index) => rank === first + index);
  const titles = new Set(page.items.map(({ title }) => title.split(" ")[0]));
  return isWhole && titles.size <= 1 ? null : `torn list in generation ${page.generation}`;
}
