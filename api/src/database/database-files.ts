import { existsSync, promises, readFileSync, realpathSync, type Stats, statSync } from "node:fs";

/**
 * The files of a database, as far as a change of them has to be seen: each as a text that is compared. It looks at them
 * without opening them: closing one would let go of SQLite's locks on it.
 */
export class DatabaseFiles {
  readonly #main: string;
  readonly #content: string;
  readonly #wal: string;
  readonly #shm: string;

  constructor(path: string) {
    const main = stat(path);
    const linked = main === undefined ? path : followLinks(path);
    this.#main = identify(main);
    this.#content = `${main?.size}:${main?.mtimeMs}`; // changes when the writer checkpoints
    this.#wal = identify(stat(`${linked}-wal`)); // the same for as long as somebody has it open
    this.#shm = identify(stat(`${linked}-shm`));
  }

  /** Whether nothing happened since that an open connection would not notice. */
  isUnchanged(since: DatabaseFiles): boolean {
    return (
      this.#main === since.#main &&
      this.#content === since.#content &&
      this.#wal === since.#wal &&
      this.#shm === since.#shm
    );
  }

  /** Whether another file has the path now. */
  isReplaced(since: DatabaseFiles): boolean {
    return this.#main !== since.#main;
  }

  /** Whether these are the same files. A -wal and a -shm that were not there before may have been made since. */
  isSame(before: DatabaseFiles): boolean {
    const isSame = (then: string, now: string) => then === none || then === now;
    return before.#main === this.#main && isSame(before.#wal, this.#wal) && isSame(before.#shm, this.#shm);
  }
}

/**
 * Differs after anything was written to the database, by whomever; not after a page went bad on the disk. Who asks goes
 * on while the disk hangs. What cannot be looked at is described by the error.
 */
export async function describeContent(path: string): Promise<string> {
  const linked = await promises.realpath(path).catch(() => path); // it was removed meanwhile
  const describe = (file: string, more: (file: Stats) => string) =>
    promises.stat(file).then((found) => `${identify(found)} ${more(found)}`, String);
  const main = await describe(path, ({ size, mtimeMs, ctimeMs }) => `${size} ${mtimeMs} ${ctimeMs}`);
  // Not its ctime: a reader that is root sets its owner, to the same one. Readers write to the -shm, too.
  const wal = await describe(`${linked}-wal`, ({ size, mtimeMs }) => `${size} ${mtimeMs}`);
  return `${main} ${wal} ${await describe(`${linked}-shm`, () => "")}`;
}

/**
 * @throws DatabaseUnusable when there is no regular file: opening a FIFO or a device, as SQLite does with a journal, too,
 * could wait for ever; and when the file itself is mounted there: the writer's log is beside its other name
 */
export function requireFile(path: string): void {
  const main = stat(path);
  if (main === undefined) {
    throw new DatabaseUnusable(
      `Cannot open ${path}: there is no such file; mount its volume, or make it with \`writer migrate\` or a follower`,
    );
  }
  for (const file of [path, `${path}-journal`])
    if (stat(file)?.isFile() === false)
      throw new DatabaseUnusable(`Cannot open ${file}: it is not a regular file`);
  if (isMountPoint(path)) {
    throw new DatabaseUnusable(
      `Cannot open ${path}: the file itself is a mount point, and SQLite's log is beside its other name; mount its folder instead`,
    );
  }
}

const mounts = "/proc/self/mountinfo"; // proc_pid_mountinfo(5), which Linux alone has
const escapes: Record<string, string> = { " ": "\\040", "\t": "\\011", "\n": "\\012", "\\": "\\134" };

/** Whether a file or folder is mounted at this path itself. */
export function isMountPoint(path: string): boolean {
  if (!existsSync(mounts)) return false;
  const written = followLinks(path).replace(/[ \t\n\\]/g, (character) => escapes[character] ?? "");
  return readFileSync(mounts, "utf8")
    .split("\n")
    .some((mount) => mount.split(" ")[4] === written);
}

const none = "none";

// SQLite has them beside the file itself, not beside a link to it.
function followLinks(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path; // it was removed meanwhile
  }
}

function stat(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

function identify(file: Stats | undefined): string {
  return file === undefined ? none : `${file.dev}:${file.ino}`;
}

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
