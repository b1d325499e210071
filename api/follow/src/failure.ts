/** Why something of a store was not taken. Metrics count by these; they never change their meaning. */
type FailureReason =
  | "unreachable" // no connection, or it ended early
  | "timeout"
  | "denied" // 401 or 403
  | "status" // any other answer than was asked for
  | "missing"
  | "malformed"
  | "other_version"
  | "unknown_key"
  | "tampered"
  | "other_store" // signed for a store of another name
  | "from_future" // signed later than it is, by our clock
  | "older"
  | "stale"
  | "wrong_object" // its bytes are not those that the pointer names
  | "unreadable_file" // not gzip, too large, or no whole SQLite file
  | "other_schema"
  | "overlap" // two stores have the same generation
  | "held" // another follower writes the file
  | "disk_full"
  | "not_written"
  | "internal";

/** The message is one sentence or two for the operator: what was found, what was expected, what to do. */
export class FollowFailure extends Error {
  readonly reason: FailureReason;

  constructor(reason: FailureReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** What a failure of the local disk or of SQLite on it means; what is a FollowFailure already stays as it is. */
export function localFailure(error: unknown, path: string): FollowFailure {
  if (error instanceof FollowFailure) return error;
  const { code = "", message } = error as { code?: string; message: string };
  if (code === "ENOSPC" || code === "EDQUOT" || code.startsWith("SQLITE_FULL")) {
    const remedy = "Free some space: the file of before is served until then";
    return new FollowFailure("disk_full", `The disk of ${path} is full. ${remedy}.`, { cause: error });
  }
  if (/^(E[A-Z]+$|SQLITE_(CANTOPEN|READONLY|PERM|IOERR))/.test(code)) {
    const remedy = "Its folder must be writable for this user";
    return new FollowFailure("not_written", `Cannot write ${path} (${code}). ${remedy}.`, { cause: error });
  }
  return new FollowFailure("internal", `Cannot make ${path}: ${message}`, { cause: error });
}
