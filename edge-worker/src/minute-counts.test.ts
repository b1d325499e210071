import { Database } from "bun:sqlite";
import { beforeEach, describe, expect, test } from "bun:test";
import type { viewSchemas } from "@trendvault/contract/openapi";
import { drawsOf, Random } from "@trendvault/kit/random";
import { type Increments, MinuteCounts, type PulledMinutes } from "./minute-counts.ts";

const mostRows = 1200; // of a shard in a minute: docs/http-api.md

const random = new Random();
const hour = 60; // in minutes
const start = 29_921_000;

let minute: number;
let sqlite: Database;
let counts: MinuteCounts;
let databaseSize: number;

beforeEach(() => {
  minute = start;
  databaseSize = 0;
  sqlite = new Database(":memory:");
  counts = restart();
});

/** The object as it is after it was ended and created anew. */
function restart(): MinuteCounts {
  const exec = (query: string, ...values: (string | number)[]) => {
    if (query.trimStart().startsWith("CREATE")) return void sqlite.exec(query);
    const rows = sqlite.query(query).all(...values);
    return { toArray: () => rows };
  };
  const database = {
    exec,
    get databaseSize() {
      return databaseSize;
    },
  };
  return new MinuteCounts(database as never, () => minute * 60 + 30);
}

function message(rank: number, views = 0, generation = 1): Increments {
  const ranks: [number, string, number, number][] = [[rank, `video-${rank}`, 1, views]];
  return { looks: [{ window: "day", category: "", generation, block: 0, ranks }], served: [] };
}

function served(pages: [number, number, number][]): Increments {
  return { looks: [], served: [{ window: "day", category: "", pages }] };
}

function readRows({ looks }: PulledMinutes): ReturnType<typeof viewSchemas.ViewMinutes.parse>["looks"] {
  return looks.map((row) => JSON.parse(row));
}

/** A writer with a right clock, as ClosedMinutes.php has it. */
class Puller {
  impressions = 0;
  #after: number | null = null;

  /** Whether there is nothing more at this minute. */
  pull(now: number): boolean {
    const pulled = counts.pull(this.#after, 1 + random.below(5));
    const { until, lastClosed } = pulled;
    if (lastClosed >= now + 5 || lastClosed < (this.#after ?? 0)) return false; // it is refused
    this.#after = until;
    for (const { ranks } of readRows(pulled)) for (const [, , seen] of ranks) this.impressions += seen;
    return until === lastClosed;
  }
}

const messages = 40;

/** Counts as many while the clock is set ahead and back. Gives the minute that it is in the end. */
function countByWrongClocks(writer: Puller): number {
  let [now, ahead] = [start, 0];
  for (let added = 0; added < messages; added++) {
    now += random.below(4);
    if (random.below(6) === 0) ahead = random.pick([-1, 1]) * random.pick([0, 1, 2, 5, 6, 30, 60]);
    if (random.below(5) === 0) counts = restart();
    minute = now + ahead;
    counts.add(message(1 + random.below(3)));
    if (random.below(3) === 0) writer.pull(now);
  }
  return now;
}

describe("counts of a shard", () => {
  test("are the sums of what was added, by minute, list, rank and video", () => {
    for (const increments of [message(1, 1), message(1), message(3, 1), message(1, 0, 2)])
      counts.add(increments);
    counts.add(served([[0, 24, 5]]));
    counts.add(
      served([
        [0, 24, 2],
        [24, 24, 1],
      ]),
    );
    minute++;
    const pulled = counts.pull(null, 100);
    const list = { minute: start, window: "day" as const, category: "" };
    expect(readRows(pulled)).toEqual([
      {
        ...list,
        generation: 1,
        ranks: [
          [1, "video-1", 2, 1],
          [3, "video-3", 1, 1],
        ],
      },
      { ...list, generation: 2, ranks: [[1, "video-1", 1, 0]] },
    ]);
    const pages = [
      [0, 24, 7],
      [24, 24, 1],
    ];
    expect(pulled.served.map((row) => JSON.parse(row))).toEqual([{ ...list, pages }]);
  });

  test("are given once their minute is over, and not before", () => {
    counts.add(message(1));
    expect(counts.pull(null, 100)).toMatchObject({ until: start - 1, lastClosed: start - 1, looks: [] });
    minute++;
    const pulled = counts.pull(start - 1, 100);
    expect(pulled).toMatchObject({ until: start, lastClosed: start, lostUntil: null });
    expect(readRows(pulled)).toHaveLength(1);
    expect(counts.pull(start, 100)).toMatchObject({ until: start, looks: [] });
  });

  test("of a closed minute never change: a clock that goes back counts in the open one", () => {
    counts.add(message(1));
    minute += 2;
    const before = counts.pull(null, 100);
    for (const back of [1, 2, 500]) {
      minute = start + 2 - back;
      counts.add(message(2));
      counts = restart();
      counts.add(message(2));
      expect(counts.pull(null, 100)).toEqual(before);
    }
    minute = start + 3;
    expect(readRows(counts.pull(before.until, 100))).toMatchObject([
      { minute: start + 2, ranks: [[2, "video-2", 6, 0]] },
    ]);
  });

  test("have their own minutes again at the next pull after a clock was ahead, and each comes once", () => {
    counts.add(message(1));
    minute = start + 6 + random.below(1000);
    const ahead = minute;
    counts.add(message(2));
    expect(counts.pull(start - 1, 100).lastClosed).toBe(ahead - 1); // the writer refuses that
    minute = start + 1;
    counts.add(message(3));
    expect(readRows(counts.pull(start - 1, 100))).toMatchObject([
      { minute: start, ranks: [[1, "video-1", 1, 0]] },
    ]);
    counts = restart();
    counts.add(message(4));
    minute = start + 2;
    expect(readRows(counts.pull(start, 100))).toMatchObject([{ minute: start + 1 }]);
    minute = ahead + 1;
    expect(readRows(counts.pull(start + 1, 100)).map((row) => [row.minute, row.ranks.length])).toEqual([
      [ahead, 2],
    ]);
  });

  test(`each come once to a writer that takes nothing of the future, whatever the clock said meanwhile (TEST_SEED=${random.seed})`, () => {
    for (let draw = 0; draw < drawsOf({ usual: 100, long: 5000 }); draw++) {
      sqlite = new Database(":memory:");
      counts = restart();
      const writer = new Puller();
      const now = countByWrongClocks(writer);
      minute = now + 2 * hour;
      while (!writer.pull(minute)) {}
      expect({ draw, impressions: writer.impressions }).toEqual({ draw, impressions: messages });
    }
  });

  test("answer a cursor of the future with itself", () => {
    expect(counts.pull(start + 9, 100)).toMatchObject({ until: start + 9, lastClosed: start - 1, looks: [] });
  });

  test("are kept for 48 hours after their minute, and then deleted, which a pull from before is told", () => {
    counts.add(message(1));
    counts.add(served([[0, 24, 1]]));
    minute += 5;
    counts.add(message(2));
    minute = start + 48 * hour;
    expect(counts.deleteOld()).toBe("kept");
    expect(readRows(counts.pull(null, 100))).toHaveLength(2);
    minute = start + 48 * hour + 1;
    expect(counts.deleteOld()).toBe("kept");
    expect(readRows(counts.pull(null, 100)).map((row) => row.minute)).toEqual([start + 5]);
    expect(counts.pull(null, 100).lostUntil).toBe(start);
    expect(counts.pull(start - 1, 100).lostUntil).toBe(start);
    expect(counts.pull(start, 100).lostUntil).toBeNull();
    minute += 5;
    expect(counts.deleteOld()).toBe("nothing");
    expect(counts.pull(start, 100)).toMatchObject({ lostUntil: start + 5, looks: [], served: [] });
  });

  test("are deleted in portions when there are many", () => {
    for (; minute < start + 5; minute++) {
      const looks = Array.from({ length: 900 }, (_, block) => ({ ...message(1).looks[0], block }));
      counts.add({ looks, served: [] } as Increments);
    }
    minute += 49 * hour;
    expect([counts.deleteOld(), counts.deleteOld(), counts.deleteOld()]).toEqual(["old", "old", "nothing"]);
  });
});

describe("however many lists are told of", () => {
  const blocksAt = (generation: number) => message(1, 0, generation).looks;
  const rowsOf = (at: number) =>
    sqlite.query<{ rows: number }, number>("SELECT count(*) AS rows FROM looks WHERE minute = ?").get(at)
      ?.rows;

  test("a minute takes so many rows, also after a restart, and goes on to count in those that it has", () => {
    const looks = Array.from({ length: mostRows + 1 }, (_, index) => blocksAt(index + 1)).flat();
    expect(counts.add({ looks, served: [] })).toEqual([mostRows]);
    counts = restart();
    expect(counts.add({ looks: [...blocksAt(9999), ...blocksAt(1)], served: [] })).toEqual([0]);
    expect(rowsOf(start)).toBe(mostRows);
    minute++;
    expect(counts.add({ looks: blocksAt(9999), served: [] })).toEqual([]);
    expect(readRows(counts.pull(null, 1)).find(({ generation }) => generation === 1)?.ranks).toEqual([
      [1, "video-1", 2, 0],
    ]);
  });

  test("a minute fits into an answer that the writer takes, with the longest ids", () => {
    const ranks = Array.from({ length: 50 }, (_, index): [number, string, number, number] => [
      index + 451,
      `${index}`.padStart(64, "x"),
      99_999,
      99_999,
    ]);
    const looks = Array.from({ length: mostRows }, (_, index) => {
      return { window: "week", category: "c".repeat(100), generation: 1e9 + index, block: 9, ranks };
    });
    expect(counts.add({ looks, served: [] })).toEqual([]);
    minute++;
    const bytes = counts.pull(null, 1000).looks.join(",").length;
    expect(bytes).toBeLessThan(0.75 * 8 * 1024 * 1024); // MOST_BYTES of its EdgeClient; the rest is for served pages
  });

  test("a database that is nearly full takes no new row, and goes on to count in those that it has", () => {
    counts.add(message(1));
    databaseSize = 8e9;
    expect(counts.add({ looks: [...blocksAt(1), ...blocksAt(2)], served: [] })).toEqual([1]);
    expect(rowsOf(start)).toBe(1);
  });
});

/** Minutes of some lists, with gaps, and how many rows each has. */
function fill(): Map<number, number> {
  const rows = new Map<number, number>();
  for (; minute < start + 40; minute += 1 + random.below(3)) {
    const blocks = 1 + random.below(6);
    for (let block = 0; block < blocks; block++) {
      counts.add({ looks: [{ ...(message(1).looks[0] as Increments["looks"][0]), block }], served: [] });
    }
    if (random.below(2) === 0) counts.add(served([[0, 24, 1]]));
    rows.set(minute, blocks);
  }
  return rows;
}

describe(`pages of a pull (TEST_SEED=${random.seed})`, () => {
  test("have each row once, whatever their length and wherever they begin", () => {
    for (let draw = 0; draw < drawsOf({ usual: 30, long: 1000 }); draw++) {
      minute = start;
      sqlite = new Database(":memory:");
      counts = restart();
      fill();
      const whole = counts.pull(null, 1_000_000);
      const limit = 1 + random.below(12);
      for (let first = start - 1; first <= whole.lastClosed; first++) {
        const looks: string[] = [];
        const servedRows: string[] = [];
        for (let after = first; after < whole.lastClosed; ) {
          const page = counts.pull(after, limit);
          expect(page.until).toBeGreaterThan(after);
          looks.push(...page.looks);
          servedRows.push(...page.served);
          after = page.until;
        }
        const isLater = (row: string) => JSON.parse(row).minute > first;
        expect(looks).toEqual(whole.looks.filter(isLater));
        expect(servedRows).toEqual(whole.served.filter(isLater));
      }
    }
  });

  test("have so many rows at most, unless one minute has more", () => {
    fill();
    for (const limit of [1, 3, 7, 20]) {
      for (let after = start - 1; after < minute - 1; ) {
        const { looks, served: pages, until } = counts.pull(after, limit);
        const minutes = new Set([...looks, ...pages].map((row) => JSON.parse(row).minute));
        expect(looks.length + pages.length <= limit || minutes.size === 1).toBe(true);
        after = until;
      }
    }
  });
});
