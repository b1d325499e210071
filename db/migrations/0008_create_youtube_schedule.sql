-- When YouTube may be asked again: a run that dies, fails or has no quota left is remembered. One row at most.
CREATE TABLE youtube_schedule (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  asked_at INTEGER NOT NULL, -- when the newest run began to ask
  failed_runs INTEGER NOT NULL CHECK (failed_runs >= 0), -- how many in a row had no answer
  retry_at INTEGER NOT NULL -- nothing is asked before
) STRICT;

-- When each region was asked last, so that a run begins with the one that waited longest.
CREATE TABLE youtube_regions (
  region TEXT NOT NULL PRIMARY KEY REFERENCES regions (code),
  asked_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
