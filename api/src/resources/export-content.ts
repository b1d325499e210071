import { exportType } from "@trendvault/contract/queries";
import type { ExportHead, ExportItem } from "@trendvault/contract/responses";
import type { ListPage, ListRow } from "../database/list-page.ts";
import type { Body } from "./body.ts";
import type { Content } from "./resource.ts";
import { formatTime, formatTimeOrNull } from "./time-text.ts";
import { describeItem } from "./trending-page.ts";
import type { VideoLinks } from "./video-links.ts";

/** Lines in UTF-8, compressed with zstd: a fifth of their `length` in bytes. */
type PackedLines = { bytes: Uint8Array<ArrayBuffer>; length: number };

/** A list of an export. `page`: any part of it, for what all have in common. */
export type ExportedList = { window: string; page: ListPage; count: number; packed: PackedLines };

const fastest = 1;

/** The lines of some ranks, each with its end. */
export function writeLines(window: string, rows: readonly ListRow[], linkOf: VideoLinks): string {
  return rows.map((row) => lineOf({ window, ...describeItem(row, linkOf) })).join("");
}

/** Packs lines to be kept. */
export function packLines(lines: string): PackedLines {
  const plain = new TextEncoder().encode(lines);
  return { bytes: new Uint8Array(Bun.zstdCompressSync(plain, { level: fastest })), length: plain.length };
}

/** Keeps the lines packed: they are half a MB, and unpacked in less than a millisecond. */
export class ExportContent implements Content {
  readonly list = null;
  readonly weight: number;
  readonly #parts: readonly PackedLines[];

  /** `lists`: at least one. */
  constructor(region: string, lists: readonly ExportedList[]) {
    this.#parts = [packLines(lineOf(describeHead(region, lists))), ...lists.map(({ packed }) => packed)];
    this.weight = this.#parts.reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  render(): Body {
    const bytes = new Uint8Array(this.#parts.reduce((sum, { length }) => sum + length, 0));
    let end = 0;
    for (const part of this.#parts) {
      bytes.set(Bun.zstdDecompressSync(part.bytes), end);
      end += part.length;
    }
    return { bytes, contentType: exportType, next: null };
  }
}

function describeHead(region: string, lists: readonly ExportedList[]): ExportHead {
  const { generation, newestObservedAt } = (lists[0] as ExportedList).page;
  return {
    region,
    generation: generation.id,
    generated_at: formatTime(generation.publishedAt),
    previous_generated_at: formatTimeOrNull(generation.previousAt),
    newest_observed_at: formatTimeOrNull(newestObservedAt),
    channel_limit: { videos: generation.maxPerChannel, within_ranks: generation.maxPerChannelRanks },
    lists: lists.map(({ window, page, count }) => ({ window, count, total: page.total })),
    count: lists.reduce((sum, { count }) => sum + count, 0),
  };
}

function lineOf(line: ExportHead | ExportItem): string {
  return `${JSON.stringify(line)}\n`;
}
