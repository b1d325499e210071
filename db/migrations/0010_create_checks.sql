-- Whether the file was found whole, for `writer status`: `writer cron` looks once a day. The origin does not read it.
CREATE TABLE checks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  checked_at INTEGER NOT NULL,
  seconds REAL NOT NULL CHECK (seconds >= 0),
  result TEXT NOT NULL CHECK (result IN ('whole', 'damaged', 'unfinished')),
  detail TEXT -- what SQLite said about a damaged file; why the check did not end
) STRICT;
