-- Origins of schema version 27 and later can read what this makes.
-- Impressions and clicks by the age of the video, so that each market's lists can learn how fast click-through rates
-- fall with age, instead of weighing each impression by an assumed course.
CREATE TABLE impressions (
  region TEXT NOT NULL REFERENCES regions (code),
  video_id TEXT NOT NULL REFERENCES videos (id) ON DELETE CASCADE,
  rank_group INTEGER NOT NULL CHECK (rank_group >= 1), -- the first rank of the group of ranks
  age_group INTEGER NOT NULL CHECK (age_group >= 0), -- 0 up to half an hour, then one for each doubling
  impressions REAL NOT NULL CHECK (impressions >= 0),
  clicks REAL NOT NULL CHECK (clicks >= 0),
  age_hours REAL NOT NULL CHECK (age_hours >= 0), -- the mean age at the impressions
  counted_at INTEGER NOT NULL, -- the end of the newest minute in the sums
  PRIMARY KEY (region, video_id, rank_group, age_group)
) STRICT, WITHOUT ROWID;

CREATE INDEX impressions_by_video ON impressions (video_id);

-- How many impressions a market's lists get: of all videos, also those that are gone.
CREATE TABLE rank_traffic (
  region TEXT NOT NULL REFERENCES regions (code),
  rank_group INTEGER NOT NULL CHECK (rank_group >= 1),
  impressions REAL NOT NULL CHECK (impressions >= 0),
  counted_since INTEGER NOT NULL,
  counted_at INTEGER NOT NULL,
  PRIMARY KEY (region, rank_group)
) STRICT, WITHOUT ROWID;

-- The mean age follows from the course that was assumed: aged_looks = looks · 7 / (age + 7).
INSERT INTO impressions (region, video_id, rank_group, age_group, impressions, clicks, age_hours, counted_at)
SELECT region, video_id, rank_group,
  CASE WHEN age <= 0.5 THEN 0 WHEN age <= 1 THEN 1 WHEN age <= 2 THEN 2 WHEN age <= 4 THEN 3 WHEN age <= 8 THEN 4
    WHEN age <= 16 THEN 5 WHEN age <= 32 THEN 6 WHEN age <= 64 THEN 7 WHEN age <= 128 THEN 8 WHEN age <= 256 THEN 9
    WHEN age <= 512 THEN 10 ELSE 11 END,
  looks, views, age, counted_at
FROM (SELECT *, CASE WHEN aged_looks > 0 THEN 7 * (looks / aged_looks - 1) ELSE 0 END AS age FROM looks);

-- A sum with a half-life of 8 hours stands for a third of what one of 24 hours would hold.
INSERT INTO rank_traffic (region, rank_group, impressions, counted_since, counted_at)
SELECT region, rank_group, 3 * sum(looks), max(counted_at) - 864000, max(counted_at) FROM looks GROUP BY region, rank_group;

DROP TABLE looks;
