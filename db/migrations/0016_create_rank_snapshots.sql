-- The lists of a generation, kept for a little more than an hour: generations are deleted sooner.
CREATE TABLE rank_snapshots (
  published_at INTEGER NOT NULL, -- of the generation
  region TEXT NOT NULL REFERENCES regions (code),
  window TEXT NOT NULL,
  category TEXT NOT NULL,
  video_ids TEXT NOT NULL, -- by rank, with a space between
  PRIMARY KEY (published_at, region, window, category)
) STRICT, WITHOUT ROWID;
