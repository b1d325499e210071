-- One row per published ranking. It is written in the same transaction as its lists,
-- so whoever sees the row sees all of them.
CREATE TABLE generations (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- never used twice: cursors name it
  published_at INTEGER NOT NULL,
  formula TEXT NOT NULL CHECK (length(formula) BETWEEN 1 AND 40),
  video_count INTEGER NOT NULL CHECK (video_count >= 0),
  max_per_channel INTEGER NOT NULL CHECK (max_per_channel >= 1), -- within the first max_per_channel_ranks of a list
  max_per_channel_ranks INTEGER NOT NULL CHECK (max_per_channel_ranks >= 0)
) STRICT;

-- How much a generation knew of each market, and how fresh that was.
CREATE TABLE generation_regions (
  generation INTEGER NOT NULL REFERENCES generations (id) ON DELETE CASCADE,
  region TEXT NOT NULL REFERENCES regions (code),
  video_count INTEGER NOT NULL CHECK (video_count >= 0),
  newest_observed_at INTEGER, -- null while nothing was ever observed there
  PRIMARY KEY (generation, region)
) STRICT, WITHOUT ROWID;
