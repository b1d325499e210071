-- Origins of schema version 22 and later can read what this makes.
-- When each platform may be asked again: a run that dies, fails or has no quota left is remembered.
CREATE TABLE source_schedules (
  source TEXT NOT NULL PRIMARY KEY CHECK (length(source) BETWEEN 1 AND 200), -- youtube, or peertube:HOST
  asked_at INTEGER NOT NULL, -- when the newest run began to ask
  failed_runs INTEGER NOT NULL CHECK (failed_runs >= 0), -- how many in a row had no answer
  retry_at INTEGER NOT NULL, -- nothing is asked before
  failure TEXT -- why; NULL when the newest run had its answers
) STRICT, WITHOUT ROWID;
INSERT INTO source_schedules (source, asked_at, failed_runs, retry_at, failure)
SELECT 'youtube', asked_at, failed_runs, retry_at, failure FROM youtube_schedule;
DROP TABLE youtube_schedule;

-- What is said once, and when it was.
CREATE TABLE notices (
  name TEXT NOT NULL PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 60),
  said_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
