import type { Database } from "bun:sqlite";

/** A generation's file that is put into another one. */
export type Addition = {
  path: string;
  generation: number;
  /**
   * Whether it is its store's newest. What it says about videos replaces what is there then, except for videos in
   * `fresherGenerations`: those of other stores that published later. An older one only fills gaps.
   */
  isNewest: boolean;
  fresherGenerations: readonly number[];
};

const generationTables = ["generations", "generation_regions", "trending", "explored_ranks", "explanations"];

/** Puts a generation into the database, in one transaction. */
export function merge(database: Database, addition: Addition): void {
  database.run("ATTACH ? AS added", [addition.path]);
  try {
    database.transaction(() => {
      for (const table of generationTables) addGeneration(database, table, addition.generation);
      for (const table of ["regions", "videos", "velocity", "hourly_views"])
        upsert(database, table, addition);
    })();
  } finally {
    database.run("DETACH added");
  }
}

/** Deletes generations, and the videos that only they had. */
export function deleteGenerations(database: Database, generations: readonly number[]): void {
  if (generations.length === 0) return;
  const gone = JSON.stringify(generations);
  database.run("CREATE TEMP TABLE IF NOT EXISTS gone (video_id TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID");
  database.run(
    "INSERT OR IGNORE INTO gone SELECT video_id FROM main.trending WHERE generation IN (SELECT value FROM json_each(?))",
    [gone],
  );
  for (const table of generationTables)
    database.run(`DELETE FROM main.${table} WHERE ${idOf(table)} IN (SELECT value FROM json_each(?))`, [
      gone,
    ]);
  deleteUnlisted(database);
}

// One look is enough for most of them: they are in the newest generation, too.
function deleteUnlisted(database: Database): void {
  database.run(`DELETE FROM gone WHERE EXISTS (SELECT 1 FROM
    (SELECT id FROM main.generations ORDER BY id DESC) AS kept CROSS JOIN main.trending INDEXED BY trending_by_video
    WHERE trending.generation = kept.id AND trending.video_id = gone.video_id)`);
  database.run("DELETE FROM main.videos WHERE id IN (SELECT video_id FROM gone)");
  for (const table of ["velocity", "hourly_views"])
    database.run(`DELETE FROM main.${table} WHERE (region, video_id) IN
      (SELECT regions.code, gone.video_id FROM main.regions CROSS JOIN gone)`);
  database.run("DELETE FROM gone");
}

function addGeneration(database: Database, table: string, generation: number): void {
  const columns = columnsOf(database, table).map(({ name }) => name);
  database.run(`DELETE FROM main.${table} WHERE ${idOf(table)} = ?`, [generation]);
  database.run(
    `INSERT INTO main.${table} (${columns}) SELECT ${columns} FROM added.${table} WHERE ${idOf(table)} = ?`,
    [generation],
  );
}

/** Rows that are already there as they are cost no write. */
function upsert(database: Database, table: string, { isNewest, fresherGenerations }: Addition): void {
  const columns = columnsOf(database, table);
  const names = columns.map(({ name }) => name);
  const keys = columns.filter(({ pk }) => pk > 0).map(({ name }) => name);
  const values = names.filter((name) => !keys.includes(name));
  const isWanted =
    table === "videos" && fresherGenerations.length > 0
      ? `NOT EXISTS (SELECT 1 FROM main.trending AS t INDEXED BY trending_by_video
          WHERE t.generation IN (${fresherGenerations.map(Number)}) AND t.video_id = added.videos.id)`
      : "true";
  const replacement = `UPDATE SET ${values.map((name) => `${name} = excluded.${name}`)}
    WHERE (${values}) IS NOT (${values.map((name) => `excluded.${name}`)})`;
  database.run(`INSERT INTO main.${table} (${names}) SELECT ${names} FROM added.${table} WHERE ${isWanted}
    ON CONFLICT (${keys}) DO ${isNewest ? replacement : "NOTHING"}`);
}

type Column = { name: string; pk: number };

function columnsOf(database: Database, table: string): Column[] {
  return database.query<Column, []>(`PRAGMA main.table_info(${table})`).all();
}

function idOf(table: string): string {
  return table === "generations" ? "id" : "generation";
}
