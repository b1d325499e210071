-- Origins of schema version 27 and later can read what this makes.
-- The newest EDITORIAL_FILE that could be read, which is in force, and why a newer one could not.
CREATE TABLE editorial (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  text TEXT, -- JSON; null before the first
  read_at INTEGER,
  failed_at INTEGER,
  failure TEXT
) STRICT;

-- JSON: placed_by, sponsor and model_rank, where an editor placed the video; and when that ends. The first such row makes
-- the database one for origins of this version and later: others would not say who placed it.
ALTER TABLE trending ADD COLUMN placed TEXT CHECK (json_valid(placed));
ALTER TABLE trending ADD COLUMN placed_until INTEGER;
CREATE INDEX trending_by_end ON trending (placed_until) WHERE placed_until IS NOT NULL;

-- Where an editor placed videos, and what visitors did there: nothing is learned of the video from it.
CREATE TABLE placed_ranks (
  region TEXT NOT NULL REFERENCES regions (code),
  window TEXT NOT NULL,
  category TEXT NOT NULL, -- the list's name
  rank INTEGER NOT NULL,
  video_id TEXT NOT NULL,
  first_at INTEGER NOT NULL, -- of the first and the last generation with it
  last_at INTEGER NOT NULL,
  model_rate REAL, -- clicks per impression of the video that would be there; null where that is not known
  impressions REAL NOT NULL DEFAULT 0,
  clicks REAL NOT NULL DEFAULT 0,
  model_clicks REAL NOT NULL DEFAULT 0, -- at the same impressions
  PRIMARY KEY (region, window, category, rank, video_id)
) STRICT, WITHOUT ROWID;
