-- What the writer did, for `writer status`. The origin does not read these.
CREATE TABLE runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  command TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  finished_at INTEGER, -- null while running, and for ever when the run was killed
  exit_code INTEGER,
  error TEXT,
  accepted INTEGER NOT NULL DEFAULT 0 CHECK (accepted >= 0),
  unchanged INTEGER NOT NULL DEFAULT 0 CHECK (unchanged >= 0),
  late INTEGER NOT NULL DEFAULT 0 CHECK (late >= 0),
  conflicting INTEGER NOT NULL DEFAULT 0 CHECK (conflicting >= 0) -- other views than the first ones of that time; the first stay
) STRICT;

CREATE TABLE rejections (
  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  reason TEXT NOT NULL,
  line_count INTEGER NOT NULL CHECK (line_count >= 1),
  PRIMARY KEY (run_id, reason)
) STRICT, WITHOUT ROWID;

-- What YouTube answered last for each page of a market's chart, to ask only for what has changed.
CREATE TABLE youtube_pages (
  region TEXT NOT NULL REFERENCES regions (code),
  page INTEGER NOT NULL CHECK (page >= 1),
  etag TEXT NOT NULL,
  next_page_token TEXT, -- null on the last page
  fetched_at INTEGER NOT NULL,
  PRIMARY KEY (region, page)
) STRICT, WITHOUT ROWID;
