/** The database cannot be served at all. The message is one sentence for the operator. */
export class DatabaseUnusable extends Error {}

/** Something could not be read from the database now; what is in memory may still be served. */
export class DatabaseUnreadable extends Error {}

/** As DatabaseUnreadable: what could not be read is of the generation with this id. */
export class RankingUnreadable extends DatabaseUnreadable {
  readonly id: number;

  constructor(id: number, cause: DatabaseUnreadable) {
    super(cause.message, { cause });
    this.id = id;
  }
}

/** Why SQLite failed, in words that say what to look at. */
export function explainSqliteError(error: unknown): string {
  const { code = "", message } = error as { code?: string; message: string };
  if (/^SQLITE_(CANTOPEN|READONLY|PERM|AUTH)/.test(code)) {
    return "it needs to be readable, and its -wal and -shm files too, or its folder writable";
  }
  if (/^SQLITE_(NOTADB|CORRUPT|IOERR_SHORT_READ)/.test(code))
    return "it is not a SQLite database, or it is damaged";
  if (/^SQLITE_(BUSY|LOCKED|PROTOCOL)/.test(code)) return "it is locked by another process";
  return message;
}
