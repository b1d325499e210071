-- When a video was last seen stands in velocity, per region: here it would rewrite
-- these wide rows at every run.
CREATE TABLE videos (
  id TEXT NOT NULL PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 64),
  title TEXT NOT NULL CHECK (length(title) BETWEEN 1 AND 300),
  channel TEXT NOT NULL CHECK (length(channel) BETWEEN 1 AND 200),
  category TEXT CHECK (length(category) BETWEEN 1 AND 60),
  language TEXT CHECK (length(language) BETWEEN 2 AND 35), -- BCP 47
  published_at INTEGER,
  duration_seconds INTEGER CHECK (duration_seconds >= 0),
  thumb_base TEXT NOT NULL CHECK (length(thumb_base) <= 500 AND thumb_base GLOB 'http*://?*'),
  first_seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
