-- Origins of schema version 27 and later can read what this makes.
-- What was erased and may not come back: the HMAC-SHA-256 of a video's id or a channel's name, since a plain hash of a
-- name can be guessed. The key is drawn at the first erasure. Both are in backups, and in no published file.
CREATE TABLE erased (
  name_hash BLOB NOT NULL PRIMARY KEY CHECK (length(name_hash) = 32),
  erased_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE erasure_key (key BLOB NOT NULL CHECK (length(key) = 32)) STRICT;
