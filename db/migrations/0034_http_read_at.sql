-- Origins of schema version 27 and later can read what this makes.
-- An unchanged file is read again now and then; of what was read before this migration, no time is known.
ALTER TABLE http_sources ADD COLUMN read_at INTEGER NOT NULL DEFAULT 0;
