-- What the edge's counters told, shard by shard, until every shard of a region has told a minute and its looks are
-- counted; docs/decisions/0033 says why nothing is counted twice. A minute is Unix time / 60.
CREATE TABLE pull_shards (
  shard TEXT NOT NULL PRIMARY KEY CHECK (length(shard) BETWEEN 4 AND 5), -- such as GB-0
  region TEXT NOT NULL REFERENCES regions (code),
  listed_at INTEGER NOT NULL, -- when the edge named it last
  after INTEGER, -- the cursor: every minute up to this one is stored; null before the first pull
  asked_at INTEGER NOT NULL DEFAULT 0, -- when a run asked it last
  lost_minutes INTEGER NOT NULL DEFAULT 0, -- minutes that the edge had deleted before they were pulled
  lost_at INTEGER -- when that was seen last
) STRICT, WITHOUT ROWID;

CREATE TABLE pulled_counts (
  region TEXT NOT NULL REFERENCES regions (code),
  minute INTEGER NOT NULL,
  window TEXT NOT NULL,
  category TEXT NOT NULL, -- as the token names it, '' for all
  rank INTEGER NOT NULL CHECK (rank >= 1),
  video_id TEXT NOT NULL,
  looks INTEGER NOT NULL CHECK (looks >= 0),
  views INTEGER NOT NULL CHECK (views >= 0),
  PRIMARY KEY (region, minute, window, category, rank, video_id)
) STRICT, WITHOUT ROWID;

-- Lists that the edge served: they bound how many looks are counted, for as long as their messages are taken.
CREATE TABLE pulled_lists (
  region TEXT NOT NULL REFERENCES regions (code),
  minute INTEGER NOT NULL,
  window TEXT NOT NULL,
  category TEXT NOT NULL,
  first_rank INTEGER NOT NULL CHECK (first_rank >= 1),
  last_rank INTEGER NOT NULL CHECK (last_rank >= first_rank),
  lists INTEGER NOT NULL CHECK (lists >= 0),
  PRIMARY KEY (region, window, category, minute, first_rank, last_rank)
) STRICT, WITHOUT ROWID;

-- How much of the ceiling earlier minutes have used.
CREATE TABLE counted_ranks (
  region TEXT NOT NULL REFERENCES regions (code),
  minute INTEGER NOT NULL,
  window TEXT NOT NULL,
  category TEXT NOT NULL,
  rank INTEGER NOT NULL,
  counted INTEGER NOT NULL CHECK (counted >= 0), -- looks or views, whichever are more
  PRIMARY KEY (region, window, category, minute, rank)
) STRICT, WITHOUT ROWID;

CREATE TABLE pull_regions (
  region TEXT NOT NULL PRIMARY KEY REFERENCES regions (code),
  settled_until INTEGER NOT NULL DEFAULT 0, -- the looks of the minutes up to this one are counted
  lists INTEGER NOT NULL DEFAULT 0, -- all that was ever pulled
  looks INTEGER NOT NULL DEFAULT 0,
  views INTEGER NOT NULL DEFAULT 0,
  late_looks INTEGER NOT NULL DEFAULT 0, -- the part of it that came when its minute was settled
  late_views INTEGER NOT NULL DEFAULT 0,
  settled_looks INTEGER NOT NULL DEFAULT 0, -- the part of it whose minutes are settled, before the ceiling
  settled_views INTEGER NOT NULL DEFAULT 0,
  counted_looks REAL NOT NULL DEFAULT 0, -- what the ceiling left of that
  counted_views REAL NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- All that was ever pulled about a video, before the ceiling.
CREATE TABLE pulled_videos (
  region TEXT NOT NULL REFERENCES regions (code),
  video_id TEXT NOT NULL,
  looks INTEGER NOT NULL CHECK (looks >= 0),
  views INTEGER NOT NULL CHECK (views >= 0),
  newest_minute INTEGER NOT NULL,
  PRIMARY KEY (region, video_id)
) STRICT, WITHOUT ROWID;

-- Where a video's own page is, as a line of the catalogue says it.
ALTER TABLE videos ADD COLUMN url TEXT CHECK (length(url) <= 2000 AND url GLOB 'https://?*');
ALTER TABLE runs ADD COLUMN announced INTEGER NOT NULL DEFAULT 0 CHECK (announced >= 0);
