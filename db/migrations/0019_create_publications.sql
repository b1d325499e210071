-- What the writer has published into object storage, so that a run that was killed is carried on with. Nothing here is
-- needed to read a store.
CREATE TABLE publications (
  store TEXT NOT NULL PRIMARY KEY, -- s3://bucket/prefix
  pending TEXT, -- the pointer that a run was about to write; null when that is done
  generation INTEGER, -- of the newest pointer; null before the first
  published_at INTEGER,
  seconds REAL CHECK (seconds >= 0), -- from making the generation file to the pointer
  file_bytes INTEGER, -- of the generation file as stored
  bundle_generation INTEGER, -- of the newest bundle; null before the first
  bundle_published_at INTEGER,
  bundle_seconds REAL CHECK (bundle_seconds >= 0),
  bundle_bytes INTEGER,
  failed_at INTEGER, -- when the last run failed; null when it did not
  failure TEXT,
  tidied_at INTEGER, -- when old objects were looked for
  backed_up_at INTEGER,
  backup_bytes INTEGER
) STRICT, WITHOUT ROWID;

-- The pointers that are in a store one by one, until they are in the pack of their day. The newest one always stays.
CREATE TABLE pointers (
  store TEXT NOT NULL REFERENCES publications (store) ON DELETE CASCADE,
  generation INTEGER NOT NULL,
  published_at INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (store, generation)
) STRICT, WITHOUT ROWID;
