import { type Window, windows } from "@trendvault/contract/lists";
import { exportType, exportUrl, parseExportQuery } from "@trendvault/contract/queries";
import type { ExportHead, ExportItem } from "@trendvault/contract/responses";
import { DatabaseUnreadable } from "../database/database-files.ts";
import type { Generation, ListPage, ListRow } from "../database/store.ts";
import {
  type Body,
  type Content,
  formatTime,
  formatTimeOrNull,
  Refusal,
  type Resource,
  unpublishedRegion,
} from "./resource.ts";
import { describeItem, type PageSources, scoreUnitOf } from "./trending.ts";

const ranksPerStep = 25; // a fifth of a millisecond

type ReadingSteps = Generator<void, Content | Refusal>;

/** The ranking of a region that a query string (without its "?") selects, or why it selects none. */
export function exportResource(region: string, search: string, sources: PageSources): Resource | Refusal {
  const { query, invalid } = parseExportQuery(region, `?${search}`);
  if (query === null) return Refusal.ofParameters(invalid);
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
  { region, window }: { region: string; window: Window | undefined },
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
  list: { region: string; window: Window },
  generation: number,
  { lists, linkOf }: PageSources,
): Generator<void, ExportedList> {
  const query = { ...list, limit: ranksPerStep };
  let text = "";
  let count = 0;
  let endsAt = Infinity;
  let page: ListPage;
  for (let afterRank = 0; ; afterRank += ranksPerStep) {
    const read = lists.readListPage(query, { generation, afterRank });
    if (read === null)
      throw new DatabaseUnreadable(`Generation ${generation} was deleted while it is served`);
    page = read;
    text += writeLines(list.window, page.rows, linkOf);
    count += page.rows.length;
    endsAt = Math.min(endsAt, page.endsAt);
    yield;
    if (afterRank + ranksPerStep >= page.total) break;
  }
  const packed = packLines(text);
  yield;
  return { ...list, page, count, endsAt, packed };
}

/** Lines in UTF-8, compressed with zstd: a fifth of their `length` in bytes. */
type PackedLines = { bytes: Uint8Array<ArrayBuffer>; length: number };

/** A list of an export. `page`: any part of it, for what all have in common. */
type ExportedList = { window: Window; page: ListPage; count: number; endsAt: number; packed: PackedLines };

const fastest = 1;

/** The lines of some ranks, each with its end. */
function writeLines(window: Window, rows: readonly ListRow[], linkOf: PageSources["linkOf"]): string {
  return rows.map((row) => lineOf({ window, ...describeItem(row, linkOf) })).join("");
}

/** Packs lines to be kept. */
function packLines(lines: string): PackedLines {
  const plain = new TextEncoder().encode(lines);
  return { bytes: new Uint8Array(Bun.zstdCompressSync(plain, { level: fastest })), length: plain.length };
}

/** Keeps the lines packed: they are half a MB, and unpacked in less than a millisecond. */
class ExportContent implements Content {
  readonly list = null;
  readonly endsAt: number;
  readonly weight: number;
  readonly #parts: readonly PackedLines[];

  /** `lists`: at least one. */
  constructor(region: string, lists: readonly ExportedList[]) {
    this.#parts = [packLines(lineOf(describeHead(region, lists))), ...lists.map(({ packed }) => packed)];
    this.endsAt = Math.min(...lists.map(({ endsAt }) => endsAt));
    this.weight = this.#parts.reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  render(): Body {
    const bytes = new Uint8Array(this.#parts.reduce((sum, { length }) => sum + length, 0));
    let end = 0;
    for (const part of this.#parts) {
      bytes.set(Bun.zstdDecompressSync(part.bytes), end);
      end += part.length;
    }
    return { bytes, contentType: exportType, next: null, endsAt: this.endsAt };
  }
}

function describeHead(region: string, lists: readonly ExportedList[]): ExportHead {
  const { generation, newestObservedAt, impressionWeight } = (lists[0] as ExportedList).page;
  return {
    region,
    generation: generation.id,
    generated_at: formatTime(generation.publishedAt),
    previous_generated_at: formatTimeOrNull(generation.previousAt),
    newest_observed_at: formatTimeOrNull(newestObservedAt),
    channel_limit: { videos: generation.maxPerChannel, within_ranks: generation.maxPerChannelRanks },
    score_unit: scoreUnitOf(impressionWeight),
    lists: lists.map(({ window, page, count }) => ({ window, count, total: page.total })),
    count: lists.reduce((sum, { count }) => sum + count, 0),
  };
}

function lineOf(line: ExportHead | ExportItem): string {
  return `${JSON.stringify(line)}\n`;
}
