-- What a generation was made with, for people who ask how.
ALTER TABLE generations ADD COLUMN taper_hours REAL CHECK (taper_hours >= 0); -- of the forecast
ALTER TABLE generations ADD COLUMN sources TEXT CHECK (json_valid(sources)); -- JSON: kinds and hosts, without keys and paths
ALTER TABLE generations ADD COLUMN explore_share REAL CHECK (explore_share BETWEEN 0 AND 1);
ALTER TABLE generations ADD COLUMN removed_videos INTEGER CHECK (removed_videos >= 0);
ALTER TABLE generations ADD COLUMN looks_counted INTEGER CHECK (looks_counted IN (0, 1));
-- How much looks weigh against the forecast; null where none are counted.
ALTER TABLE generation_regions ADD COLUMN look_weight REAL CHECK (look_weight BETWEEN 0 AND 1);

-- What the scores of the videos in a region's lists over all categories came from, of the two newest generations only.
-- One row a region: a row a video would make publishing a tenth slower.
CREATE TABLE explanations (
  generation INTEGER NOT NULL REFERENCES generations (id) ON DELETE CASCADE,
  region TEXT NOT NULL REFERENCES regions (code),
  parts TEXT NOT NULL CHECK (json_valid(parts)), -- JSON: by video id, see writer/src/Ranking/ExplainedVideo.php
  limited TEXT NOT NULL CHECK (json_valid(limited)), -- JSON: by window and rank, where the limit by channel changed it: the rank without it, null beyond the list's end
  PRIMARY KEY (generation, region)
) STRICT, WITHOUT ROWID;
