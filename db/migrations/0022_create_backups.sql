-- The backups that were made, and those that failed, newest last: when the next one is due, and what `writer status` says.
CREATE TABLE backups (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  store TEXT NOT NULL, -- s3://bucket/prefix
  began_at INTEGER NOT NULL,
  seconds REAL CHECK (seconds >= 0), -- null while it runs, and when it failed
  bytes INTEGER, -- as stored
  failure TEXT
) STRICT;

ALTER TABLE publications DROP COLUMN backed_up_at;
ALTER TABLE publications DROP COLUMN backup_bytes;
