-- Origins of schema version 26 and later can read what this makes.
-- Which sources failed in which run.
CREATE TABLE source_failures (
  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  source TEXT NOT NULL CHECK (length(source) BETWEEN 1 AND 120), -- its kind, such as spool, or kind and host: peertube:tube.example
  PRIMARY KEY (run_id, source)
) STRICT, WITHOUT ROWID;

-- What was asked of YouTube, by the day of its quota, which begins at midnight Pacific time.
CREATE TABLE youtube_quota (
  day_began_at INTEGER NOT NULL,
  quota TEXT NOT NULL CHECK (quota IN ('charts', 'views')), -- YouTube counts the two apart
  units INTEGER NOT NULL CHECK (units >= 0),
  PRIMARY KEY (day_began_at, quota)
) STRICT, WITHOUT ROWID;
