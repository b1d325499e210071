import { Database } from "bun:sqlite";
import type { DatabaseBuilder } from "./database-builder.ts";

/** A copy of a database that has a journal instead of a write-ahead log, and so a lock that keeps readers out. */
export function lockableCopy(builder: DatabaseBuilder) {
  const path = `${builder.path}-copy`;
  builder.database.run("VACUUM INTO ?", [path]);
  const writer = new Database(path);
  writer.run("PRAGMA busy_timeout = 60000"); // the inspector may be reading
  return {
    path,
    lock: () => writer.run("BEGIN EXCLUSIVE"),
    unlock() {
      writer.run("COMMIT");
      writer.close();
    },
  };
}
