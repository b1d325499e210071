-- What visitors of the lists did: the evidence that a list itself gathers, apart from what platforms count (velocity).
-- A look is one visitor to whom a rank was on screen; a view is one who opened it. Both are already scaled by the ceiling.
-- All sums forget: a count of some time before counted_at is worth 2^(-time / half-life), see Evidence.php.
CREATE TABLE looks (
  region TEXT NOT NULL REFERENCES regions (code),
  video_id TEXT NOT NULL REFERENCES videos (id) ON DELETE CASCADE,
  rank_group INTEGER NOT NULL CHECK (rank_group >= 1), -- the first rank of the group of ranks, see RankGroup.php
  looks REAL NOT NULL CHECK (looks >= 0),
  aged_looks REAL NOT NULL CHECK (aged_looks BETWEEN 0 AND looks), -- each look times how much of its appeal the video had left
  views REAL NOT NULL CHECK (views >= 0),
  counted_at INTEGER NOT NULL, -- the end of the newest minute in the sums
  PRIMARY KEY (region, video_id, rank_group)
) STRICT, WITHOUT ROWID;

-- Where a video may be listed that no source counts views of: by a line that announces it. With counts it needs no row here.
CREATE TABLE catalogue (
  region TEXT NOT NULL REFERENCES regions (code),
  video_id TEXT NOT NULL REFERENCES videos (id) ON DELETE CASCADE,
  announced_at INTEGER NOT NULL, -- when a line named it last
  PRIMARY KEY (region, video_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX catalogue_by_video ON catalogue (video_id);
CREATE INDEX looks_by_video ON looks (video_id);

-- The ranks of a generation that a video holds to be tried, above the rank that it has earned.
CREATE TABLE explored_ranks (
  generation INTEGER NOT NULL REFERENCES generations (id) ON DELETE CASCADE,
  region TEXT NOT NULL,
  window TEXT NOT NULL,
  category TEXT NOT NULL,
  rank INTEGER NOT NULL,
  PRIMARY KEY (generation, region, window, category, rank)
) STRICT, WITHOUT ROWID;
