import { Database } from "bun:sqlite";
import type { RemovalRow, Removals } from "./memory.ts";

/** What a generation's file says was taken down. */
export function readRemovals(path: string): Removals {
  const database = new Database(path, { readonly: true, strict: true });
  try {
    const rows = database
      .query<RemovalRow, []>("SELECT kind, name, reason, removed_at FROM removals ORDER BY kind, name")
      .all();
    return { rows, version: readVersion(database) };
  } finally {
    database.close();
  }
}

/**
 * Makes the removals of all stores those of the database: what one store took down is in no list of the others. The
 * version is the sum, which differs whenever one does. `alsoKept` leaves those that are there already.
 */
export function writeRemovals(
  database: Database,
  all: readonly Removals[],
  { alsoKept }: { alsoKept: boolean },
): void {
  database.transaction(() => {
    const before = readVersion(database);
    if (!alsoKept) database.run("DELETE FROM removals");
    for (const { rows } of all)
      for (const { kind, name, reason, removed_at } of rows)
        database.run("INSERT OR IGNORE INTO removals (kind, name, reason, removed_at) VALUES (?, ?, ?, ?)", [
          kind,
          name,
          reason,
          removed_at,
        ]);
    const sum = all.reduce((total, { version }) => total + version, 0);
    database.run("UPDATE removals_version SET version = ?", [alsoKept ? Math.max(before, sum) + 1 : sum]);
  })();
}

function readVersion(database: Database): number {
  return database.query<{ version: number }, []>("SELECT version FROM removals_version").get()?.version ?? 0;
}
