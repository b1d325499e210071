import { Database } from "bun:sqlite";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Window } from "@trendvault/contract/lists";
import { regions } from "@trendvault/contract/regions";
import type { GenerationMark } from "../../api/src/database/inspector.ts";
import { newFolder } from "./machine.ts";

const migrations = join(import.meta.dirname, "../../db/migrations");

/** Files in db/migrations in their order, with the version that their name begins with. */
export function listMigrations(): { version: number; name: string; sql: string }[] {
  return readdirSync(migrations)
    .filter((name) => name.endsWith(".sql"))
    .sort()
    .map((name) => ({
      version: Number.parseInt(name, 10),
      name,
      sql: readFileSync(join(migrations, name), "utf8"),
    }));
}

export type VideoSeed = {
  id: string;
  title?: string;
  channel?: string;
  category?: string | null;
  url?: string;
  previousRank?: number;
  titleInRegion?: string | undefined;
};

export type ListSeed = {
  region: string;
  window?: Window;
  category?: string;
  videos: VideoSeed[];
};

type PublishedRegions = {
  codes: readonly string[];
  id?: number | null;
  publishedAt?: number;
  previousAt?: number | null;
};

type BuilderOptions = { version?: number };

/** A real database file, made from the migrations in a folder of its own. */
export class DatabaseBuilder {
  readonly folder: string;
  readonly path: string;
  readonly database: Database;

  /** With a path, an existing file is opened instead. `version` is the last migration that is applied (default: all). */
  constructor(existing?: string, { version = Number.POSITIVE_INFINITY }: BuilderOptions = {}) {
    this.folder = existing === undefined ? newFolder("database") : dirname(existing);
    this.path = existing ?? join(this.folder, "trendvault.db");
    this.database = new Database(this.path, { create: true, strict: true });
    try {
      this.database.run("PRAGMA busy_timeout = 2000"); // an origin that recovers the log locks it for a moment
      this.database.run("PRAGMA journal_mode = WAL");
      this.database.run("PRAGMA foreign_keys = ON");
      this.database.run("PRAGMA synchronous = OFF"); // no test cuts the power, and a busy disk takes seconds
    } catch (error) {
      this.database.close(); // what stays open keeps others from recovering it
      throw error;
    }
    if (existing === undefined) this.#create(version);
  }

  /** Applies the migrations that are missing, as a writer of now does. */
  migrate(last = Number.POSITIVE_INFINITY): void {
    const { version: applied } = this.database
      .query<{ version: number }, []>("SELECT ifnull(max(version), 0) AS version FROM schema_migrations")
      .get() ?? { version: 0 };
    for (const { version, name, sql } of listMigrations()) {
      if (version <= applied || version > last) continue;
      this.database.run(sql);
      const checksum = createHash("sha256").update(sql).digest("hex");
      this.database.run("INSERT INTO schema_migrations VALUES (?, ?, ?, 0)", [version, name, checksum]);
    }
  }

  /** Publishes a generation with these lists in one transaction and gives its id. */
  publish(lists: ListSeed[], publishedAt = 1_795_171_200, previousAt: number | null = null): number {
    const codes = regions.map(({ code }) => code);
    return this.publishRegions(lists, { codes, publishedAt, previousAt });
  }

  /** As one of several writers that share the regions: the generation has only these, and perhaps a number of its own. */
  publishRegions(
    lists: ListSeed[],
    { codes, id = null, publishedAt = 1_795_171_200, previousAt = null }: PublishedRegions,
  ): number {
    return this.database.transaction(() => {
      const { lastInsertRowid } = this.database.run(
        "INSERT INTO generations (id, published_at, formula, video_count, max_per_channel, max_per_channel_ranks, previous_at) VALUES (?, ?, 'test-1', 0, 3, 24, ?)",
        [id, publishedAt, previousAt],
      );
      const generation = Number(lastInsertRowid);
      for (const code of codes) this.#addRegion(generation, code, lists, publishedAt);
      for (const list of lists) this.#addList(generation, list, publishedAt);
      return generation;
    })();
  }

  /** Deletes a generation as the writer's pruning does. */
  prune(generation: number): void {
    this.database.run("DELETE FROM generations WHERE id = ?", [generation]);
  }

  /** Takes a video or a channel down, as `writer remove` does. */
  takeDown(kind: "video" | "channel", name: string): void {
    this.database.run("INSERT INTO removals VALUES (?, ?, 'a test', 0)", [kind, name]);
  }

  /** Undoes it, as `writer allow` does. */
  allow(kind: "video" | "channel", name: string): void {
    this.database.run("DELETE FROM removals WHERE kind = ? AND name = ?", [kind, name]);
  }

  /** Stores a video's views at Unix times, oldest first, as the writer links them. */
  observe(video_id: string, region: string, views: [at: number, views: number][]): void {
    let previous: number | null = null;
    for (const [observed_at, count] of views) {
      this.#insert("observations", {
        observed_at,
        region,
        video_id,
        views: count,
        previous_observed_at: previous,
      });
      previous = observed_at;
    }
    this.#insert("velocity", { video_id, region, last_observed_at: previous });
  }

  remove(): void {
    this.database.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  // Columns that only the writer reads get a one: the origin does not depend on them.
  #insert(table: string, values: Record<string, string | number | null>): void {
    type Column = { name: string; notnull: number };
    const columns = this.database.query<Column, []>(`PRAGMA table_info(${table})`).all();
    const row = columns.map(({ name, notnull }) => values[name] ?? (notnull === 1 ? 1 : null));
    this.database.run(`INSERT INTO ${table} VALUES (${columns.map(() => "?").join(", ")})`, row);
  }

  #create(version: number): void {
    this.database.run(
      "CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT",
    );
    this.migrate(version);
    for (const { code, name, languages } of regions) {
      this.database.run("INSERT INTO regions VALUES (?, ?, ?)", [code, name, JSON.stringify(languages)]);
    }
  }

  #addRegion(generation: number, region: string, lists: ListSeed[], publishedAt: number): void {
    const videos = new Set(
      lists.filter((list) => list.region === region).flatMap((list) => list.videos.map(({ id }) => id)),
    );
    const newest = videos.size === 0 ? null : publishedAt - 60;
    this.database.run(
      "INSERT INTO generation_regions (generation, region, video_count, newest_observed_at) VALUES (?, ?, ?, ?)",
      [generation, region, videos.size, newest],
    );
  }

  #addList(
    generation: number,
    { region, window = "day", category = "", videos }: ListSeed,
    publishedAt: number,
  ): void {
    // An older schema has no expected views.
    const columns = this.database.query("SELECT 1 FROM pragma_table_info('trending')").all().length;
    for (const [index, video] of videos.entries()) {
      const { id, title = `Title of ${id}`, channel = `Channel of ${id}` } = video;
      this.database.run(
        `INSERT INTO videos (id, title, channel, category, language, published_at, duration_seconds, thumb_base, first_seen_at, url)
         VALUES (?, ?, ?, ?, 'en', ?, 212, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET title = excluded.title, channel = excluded.channel, url = excluded.url`,
        [
          id,
          title,
          channel,
          video.category ?? null,
          publishedAt - 86_400,
          `https://thumbs.example/${id}`,
          publishedAt,
          video.url ?? null,
        ],
      );
      const score = 1000.04 * (videos.length - index);
      const values = [
        ...[generation, region, window, category, index + 1, id, score],
        ...[5000 + index, score / 24, index % 2 === 0 ? score / 48 : null],
        ...[video.previousRank ?? null, score / 100, null, null, video.titleInRegion ?? null],
      ].slice(0, columns);
      this.database.run(`INSERT INTO trending VALUES (${values.map(() => "?")})`, values);
    }
  }
}

/** Seeds for `count` videos: prefix1, prefix2, … */
export function videos(count: number, prefix = "video"): VideoSeed[] {
  return Array.from({ length: count }, (_, index) => ({ id: `${prefix}${index + 1}` }));
}

/** What is compared of a generation that one writer has published. */
export function generationMark(id: number, publishedAt = 0): GenerationMark {
  return { id, publishedAt, rankings: [{ id, publishedAt }] };
}

/** The same of several writers: `id` is the one that published last. */
export function generationMarkOf(last: GenerationMark, ...others: GenerationMark[]): GenerationMark {
  const rankings = [last, ...others].flatMap((one) => one.rankings);
  return { ...last, rankings: rankings.toSorted((left, right) => left.id - right.id) };
}
