-- Origins of schema version 27 and later can read what this makes.
-- The clicks that a place of a list is expected to bring in the window ahead; null where that is not known.
ALTER TABLE trending ADD COLUMN expected_views REAL CHECK (expected_views >= 0);

-- How many lists the edge served at each hour of the day (UTC), and in how many minutes that was counted: sums that fade.
CREATE TABLE served_hours (
  region TEXT NOT NULL REFERENCES regions (code),
  hour INTEGER NOT NULL CHECK (hour BETWEEN 0 AND 23),
  lists REAL NOT NULL CHECK (lists >= 0),
  minutes REAL NOT NULL CHECK (minutes >= 0),
  counted_at INTEGER NOT NULL,
  PRIMARY KEY (region, hour)
) STRICT, WITHOUT ROWID;

-- How many impressions the ranks of each list got, in sums that fade.
CREATE TABLE list_impressions (
  region TEXT NOT NULL REFERENCES regions (code),
  window TEXT NOT NULL,
  category TEXT NOT NULL, -- the list's name
  rank_group INTEGER NOT NULL CHECK (rank_group >= 1),
  impressions REAL NOT NULL CHECK (impressions >= 0),
  counted_at INTEGER NOT NULL,
  PRIMARY KEY (region, window, category, rank_group)
) STRICT, WITHOUT ROWID;
