import { expect, test } from "bun:test";
import { allItems, answerOf, isProblem, listTrending, readVideo, trending } from "./index.ts";

// It is compiled, and never run: what the types allow and what they do not.
async function useTypes(): Promise<void> {
  const page = await trending({ region: "DE", window: "now", limit: 5 });
  const title: string | undefined = page.items[0]?.title;
  for await (const { rank } of allItems({ region: "PL" })) void (rank satisfies number);
  const chart = await trending({ region: "DE", fields: "chart" });
  void (chart.items[0]?.sparkline satisfies (number | null)[] | undefined);
  const [snippet] = await Array.fromAsync(allItems({ region: "DE", fields: "snippet" }));
  // @ts-expect-error: a snippet has no score
  void snippet?.score;
  // @ts-expect-error: no such region
  await trending({ region: "XX" });
  // @ts-expect-error: no such parameter
  await trending({ page: 2 });
  // @ts-expect-error: no such region
  await listTrending({ query: { region: "XX" } });
  const video = await answerOf(readVideo({ path: { id: title ?? "x" } }));
  // @ts-expect-error: a rank is a number
  const rank: string | undefined = video.trending[0]?.rank;
  // @ts-expect-error: no such problem type
  isProblem(rank, "/problems/none");
}

test("the types compile", () => {
  expect(useTypes).toBeFunction();
});
