import type { SqlStorage } from "@cloudflare/workers-types";
import { type ViewCounts, viewLimits } from "@trendvault/contract/views";

/** What is used of a Durable Object's SQLite. */
type CountsDatabase = Pick<SqlStorage, "exec" | "databaseSize">;

/** The closed minutes after one, whole; rows are JSON texts of the contract's form. Minutes are Unix time / 60. */
export type PulledMinutes = {
  until: number;
  lastClosed: number;
  lostUntil: number | null;
  looks: string[]; // impressions and clicks: the names of the wire and of the table stay
  served: string[];
};

const keptMinutes = viewLimits.keptHours * 60;
/**
 * New rows of `looks` that a minute takes, and the bytes of a database that takes no new ones: a minute is pulled
 * in one answer (8 MiB at most at the writer, up to 4.5 KB a row), and an object may have 10 GB.
 */
const most = { rows: 1200, bytes: 8e9 };
const mostAhead = 5; // minutes
const deletedAtOnce = 2000; // rows; what the processor time of one call allows many times over

const schema = `
  CREATE TABLE IF NOT EXISTS looks (minute INTEGER, "window" TEXT, category TEXT, generation INTEGER, block INTEGER,
    ranks TEXT NOT NULL, PRIMARY KEY (minute, "window", category, generation, block)) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS served (minute INTEGER, "window" TEXT, category TEXT,
    pages TEXT NOT NULL, PRIMARY KEY (minute, "window", category)) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS marks (name TEXT PRIMARY KEY, minute INTEGER NOT NULL) STRICT, WITHOUT ROWID;`;

const rowMinutes =
  "SELECT minute FROM looks WHERE minute > ?1 AND minute <= ?2 UNION ALL SELECT minute FROM served WHERE minute > ?1 AND minute <= ?2";

/**
 * The counts of one shard, by minute. The minute that is counted in is the clock's, but never one before a minute that
 * was counted in, or that a pull has called closed: a closed minute does not change any more. Each method is to run in
 * one transaction.
 */
export class MinuteCounts {
  readonly #sql: CountsDatabase;
  readonly #clock: () => number;
  #rows = { minute: -1, count: 0 }; // of looks, in the open minute

  /** `clock` gives Unix seconds. */
  constructor(sql: CountsDatabase, clock: () => number) {
    this.#sql = sql;
    this.#clock = clock;
    sql.exec(schema);
  }

  /** Gives the positions in `looks` of what needed a new row and found no room: that was not added. */
  add({ looks, served }: Increments): number[] {
    const minute = this.#openMinute();
    for (const list of served) this.#addServed(minute, list);
    return looks.flatMap((block, position) => (this.#addImpressions(minute, block) ? [] : [position]));
  }

  /** Rows are at most `limit`, unless the first minute alone has more. Changes no count. */
  pull(after: number | null, limit: number): PulledMinutes {
    const lastClosed = this.#openMinute(after ?? undefined) - 1;
    const from = after ?? -1;
    const until = Math.max(from, this.#lastMinuteWithin(limit, from, lastClosed));
    const deleted = this.#mark("deleted");
    return {
      until,
      lastClosed,
      lostUntil: deleted !== null && deleted > from ? deleted : null,
      looks: this.#read("looks", "generation, ranks", from, until),
      served: this.#read("served", "pages", from, until),
    };
  }

  /** Deletes minutes that were kept long enough, some of them. What is left to do then. */
  deleteOld(): "old" | "kept" | "nothing" {
    const lastOld = this.#openMinute() - 1 - keptMinutes;
    const until = this.#lastMinuteWithin(deletedAtOnce, -1, lastOld);
    const last = this.#minuteOf(`SELECT max(minute) AS minute FROM (${rowMinutes})`, -1, until);
    if (last !== null) this.#setMark("deleted", last);
    for (const table of ["looks", "served"]) this.#sql.exec(`DELETE FROM ${table} WHERE minute <= ?`, until);
    if (until < lastOld) return "old";
    const left = this.#minuteOf(`${rowMinutes} LIMIT 1`, -1, Number.MAX_SAFE_INTEGER);
    return left === null ? "nothing" : "kept";
  }

  #addImpressions(minute: number, { window, category, generation, block, ranks }: BlockIncrement): boolean {
    const key = [minute, window, category, generation, block];
    const where = `WHERE minute = ? AND "window" = ? AND category = ? AND generation = ? AND block = ?`;
    const [known] = this.#sql.exec<{ ranks: string }>(`SELECT ranks FROM looks ${where}`, ...key).toArray();
    if (known === undefined && !this.#takesNewRow(minute)) return false;
    const sum = addRanks(known === undefined ? [] : JSON.parse(known.ranks), ranks);
    this.#sql.exec("INSERT OR REPLACE INTO looks VALUES (?, ?, ?, ?, ?, ?)", ...key, JSON.stringify(sum));
    return true;
  }

  /** Counts the row that is added then. A call that is rolled back leaves it counted: fewer rows, never more. */
  #takesNewRow(minute: number): boolean {
    if (this.#rows.minute !== minute) {
      const query = "SELECT count(*) AS count FROM looks WHERE minute = ?";
      const count = this.#sql.exec<{ count: number }>(query, minute).toArray()[0]?.count ?? 0;
      this.#rows = { minute, count };
    }
    if (this.#rows.count >= most.rows || this.#sql.databaseSize >= most.bytes) return false;
    this.#rows.count++;
    return true;
  }

  #addServed(minute: number, { window, category, pages }: ServedIncrement): void {
    const key = [minute, window, category];
    const where = `WHERE minute = ? AND "window" = ? AND category = ?`;
    const [known] = this.#sql.exec<{ pages: string }>(`SELECT pages FROM served ${where}`, ...key).toArray();
    const sum = addPages(known === undefined ? [] : JSON.parse(known.pages), pages);
    this.#sql.exec("INSERT OR REPLACE INTO served VALUES (?, ?, ?, ?)", ...key, JSON.stringify(sum));
  }

  /**
   * The minute that is counted in now; it is remembered, so that it holds after a restart with another clock. One that is
   * further ahead than the writer takes is given up when the writer says what it has `taken`: a clock was wrong.
   */
  #openMinute(taken = Infinity): number {
    const now = Math.floor(this.#clock() / 60);
    const known = this.#mark("open") ?? 0;
    const least = known > now + mostAhead ? Math.min(known, taken + 1) : known;
    const open = Math.max(least, now);
    if (open !== known) this.#setMark("open", open);
    return open;
  }

  /** The last minute up to which there are at most so many rows; a first minute with more counts all the same. */
  #lastMinuteWithin(rows: number, after: number, last: number): number {
    const query = `${rowMinutes} ORDER BY minute LIMIT 1`;
    const beyond = this.#minuteOf(`${query} OFFSET ${rows}`, after, last);
    if (beyond === null) return last;
    const first = this.#minuteOf(query, after, last);
    return first === beyond ? beyond : beyond - 1;
  }

  #minuteOf(query: string, after: number, last: number): number | null {
    return this.#sql.exec<{ minute: number | null }>(query, after, last).toArray()[0]?.minute ?? null;
  }

  #read(table: "looks" | "served", columns: string, from: number, until: number): string[] {
    const query = `SELECT minute, "window", category, ${columns} AS list FROM ${table} WHERE minute > ? AND minute <= ? ORDER BY minute`;
    const name = table === "looks" ? "ranks" : "pages";
    return this.#sql
      .exec<Row>(query, from, until)
      .toArray()
      .map((row) => write(row, name));
  }

  #mark(name: "open" | "deleted"): number | null {
    const query = "SELECT minute FROM marks WHERE name = ?";
    return this.#sql.exec<{ minute: number }>(query, name).toArray()[0]?.minute ?? null;
  }

  #setMark(name: "open" | "deleted", minute: number): void {
    this.#sql.exec("INSERT OR REPLACE INTO marks VALUES (?, ?)", name, minute);
  }
}

/** A row of a table; `list` is its ranks or its pages as JSON. */
type Row = { minute: number; window: string; category: string; generation?: number; list: string };

// What was stored as JSON goes on as it is: to parse it and to write it again would cost the most of a pull.
function write({ list, ...row }: Row, name: string): string {
  return `${JSON.stringify(row).slice(0, -1)},"${name}":${list}}`;
}

/**
 * What is added to a shard's counts in one call: plain data, sums of many messages. `senders`: of each message its network,
 * where in `looks` its ranks are, and what it told.
 */
export type Increments = {
  looks: BlockIncrement[];
  served: ServedIncrement[];
  senders?: ({ network: string; positions: number[] } & ViewCounts)[];
};

/** Impressions and clicks of 50 ranks of a list; `category` is its name in tokens; the first block of a list is 0. */
export type BlockIncrement = {
  window: string;
  category: string;
  generation: number;
  block: number;
  ranks: CountedRank[];
};

/** Rank in the list, video id, impressions, clicks. */
type CountedRank = [rank: number, videoId: string, impressions: number, clicks: number];

/** How often the pages of a list were served; `category` is its name in tokens. */
type ServedIncrement = { window: string; category: string; pages: ServedPage[] };

/** The page has the ranks after `offset`, as many as `count`. */
type ServedPage = [offset: number, count: number, lists: number];

/** Adds counted ranks to others of the same block. Each rank has one video in a generation. */
export function addRanks(sum: CountedRank[], added: readonly CountedRank[]): CountedRank[] {
  const byRank = new Map(sum.map((one) => [one[0], one]));
  for (const [rank, videoId, impressions, clicks] of added) {
    const known = byRank.get(rank);
    byRank.set(rank, [rank, videoId, (known?.[2] ?? 0) + impressions, (known?.[3] ?? 0) + clicks]);
  }
  return [...byRank.values()].sort((left, right) => left[0] - right[0]);
}

/** Adds served pages to others of the same list. */
function addPages(sum: ServedPage[], added: readonly ServedPage[]): ServedPage[] {
  const byPage = new Map(sum.map((page) => [`${page[0]}+${page[1]}`, page]));
  for (const [offset, count, lists] of added) {
    const key = `${offset}+${count}`;
    byPage.set(key, [offset, count, (byPage.get(key)?.[2] ?? 0) + lists]);
  }
  return [...byPage.values()];
}
