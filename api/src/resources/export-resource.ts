import { windows } from "@trendvault/contract/lists";
import { type ExportQuery, exportUrl, parseExportQuery } from "@trendvault/contract/queries";
import { DatabaseUnreadable } from "../database/errors.ts";
import type { Generation } from "../database/generation.ts";
import type { ListPage } from "../database/list-page.ts";
import { ExportContent, type ExportedList, packLines, writeLines } from "./export-content.ts";
import { Refusal, unpublishedRegion } from "./refusal.ts";
import type { Content, Resource } from "./resource.ts";
import { type PageSources, summarize } from "./trending-resource.ts";

const ranksPerStep = 100;

type ReadingSteps = Generator<void, Content | Refusal>;

/** The ranking of a region that a query string (without its "?") selects, or why it selects none. */
export function exportResource(
  region: ExportQuery["region"],
  search: string,
  sources: PageSources,
): Resource | Refusal {
  const { query, invalid } = parseExportQuery(region, `?${search}`);
  if (query === null) return new Refusal("invalid-parameter", summarize(invalid), { invalid });
  const readInSteps = (generation: Generation) => readRanking(query, generation, sources);
  return {
    url: exportUrl(query),
    route: "export",
    read: (generation) => atOnce(readInSteps(generation)),
    readInSteps,
  };
}

function atOnce(steps: ReadingSteps): Content | Refusal {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

function* readRanking(
  { region, window }: ExportQuery,
  generation: Generation,
  sources: PageSources,
): ReadingSteps {
  const newest = generation.regions.get(region);
  if (newest === undefined) return unpublishedRegion;
  const lists: ExportedList[] = [];
  for (const one of window === undefined ? windows : [window]) {
    lists.push(yield* readList({ region, window: one }, newest.id, sources));
  }
  return new ExportContent(region, lists);
}

// A title may change between two steps: each line is of one moment, the whole need not be.
function* readList(
  list: { region: ExportQuery["region"]; window: (typeof windows)[number] },
  generation: number,
  { lists, linkOf }: PageSources,
): Generator<void, ExportedList> {
  const query = { ...list, limit: ranksPerStep };
  let text = "";
  let count = 0;
  let page: ListPage;
  for (let afterRank = 0; ; afterRank += ranksPerStep) {
    const read = lists.readListPage(query, { generation, afterRank });
    if (read === null)
      throw new DatabaseUnreadable(`Generation ${generation} was deleted while it is served`);
    page = read;
    text += writeLines(list.window, page.rows, linkOf);
    count += page.rows.length;
    yield;
    if (afterRank + ranksPerStep >= page.total) break;
  }
  const packed = packLines(text);
  yield;
  return { ...list, page, count, packed };
}
