import { Database } from "bun:sqlite";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { StoreFault } from "./store-fault.ts";
import type { TestPublisher } from "./test-publisher.ts";

/** What may be wrong with the next generation itself, though its writer has signed it. */
export const signedFileFaults: StoreFault[] = [
  {
    name: "the object is a gzip bomb",
    reason: "unreadable_file",
    isInObject: true,
    happen: ({ publisher }) => publishAgain(publisher, () => bomb),
  },
  {
    name: "the object is no gzip",
    reason: "unreadable_file",
    isInObject: true,
    happen: ({ publisher }) => publishAgain(publisher, () => Buffer.from("no gzip, but signed")),
  },
  {
    name: "the gzip file is cut off, and signed",
    reason: "unreadable_file",
    isInObject: true,
    happen: ({ publisher }) => publishAgain(publisher, (file) => file.subarray(0, file.length >> 1)),
  },
  {
    name: "the object is no SQLite file",
    reason: "unreadable_file",
    isInObject: true,
    happen: ({ publisher }) => publishAgain(publisher, () => Bun.gzipSync("no SQLite file, but signed")),
  },
  {
    name: "the SQLite file is damaged",
    reason: "unreadable_file",
    isInObject: true,
    happen: ({ publisher }) =>
      publishAgain(publisher, (file) => {
        const bytes = Bun.gunzipSync(new Uint8Array(file));
        bytes.fill(0x5a, 4096 * 3, 4096 * 20);
        return Bun.gzipSync(bytes);
      }),
  },
  {
    name: "the SQLite file is cut off",
    reason: "unreadable_file",
    isInObject: true,
    happen: ({ publisher }) =>
      publishAgain(publisher, (file) =>
        Bun.gzipSync(Bun.gunzipSync(new Uint8Array(file)).slice(0, 4096 * 30)),
      ),
  },
  {
    name: "the SQLite file needs a WAL",
    reason: "unreadable_file",
    isInObject: true,
    happen: ({ publisher }) =>
      publishAgain(publisher, (file) =>
        changeFile(file, (database) => database.run("PRAGMA journal_mode = WAL")),
      ),
  },
  {
    name: "the file has another generation",
    reason: "unreadable_file",
    isInObject: true,
    happen: ({ publisher }) =>
      publishAgain(publisher, (file) =>
        changeFile(file, (database) => database.run("UPDATE generations SET id = 5")),
      ),
  },
  {
    name: "the file has another schema",
    reason: "other_schema",
    isInObject: true,
    happen: ({ publisher }) =>
      publishAgain(publisher, (file) =>
        changeFile(file, (database) =>
          database.run("INSERT INTO schema_migrations VALUES (99, 'x', 'x', 0)"),
        ),
      ),
  },
];

// 200 MB of zeros are 200 kB.
const bomb = Bun.gzipSync(new Uint8Array(200 * 1024 * 1024), { level: 9 });

function changeFile(packed: Buffer, change: (database: Database) => void): Uint8Array {
  const path = join(tmpdir(), `trendvault-changed-${crypto.randomUUID()}.db`);
  writeFileSync(path, Bun.gunzipSync(new Uint8Array(packed)));
  const database = new Database(path, { readwrite: true });
  try {
    change(database);
  } finally {
    database.close();
  }
  const changed = Bun.gzipSync(readFileSync(path));
  rmSync(path);
  return changed;
}

async function publishAgain(publisher: TestPublisher, change: (file: Buffer) => Uint8Array): Promise<void> {
  await publisher.publish({ change });
}
