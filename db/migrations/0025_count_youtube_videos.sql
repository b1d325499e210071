-- Origins of schema version 22 and later can read what this makes.
-- Which videos the charts of the last two days had: their views are asked for between two readings of the charts.
CREATE TABLE youtube_videos (
  region TEXT NOT NULL REFERENCES regions (code),
  video_id TEXT NOT NULL,
  page INTEGER NOT NULL CHECK (page >= 1), -- of the chart: one that has not changed is not sent again
  charted_at INTEGER NOT NULL,
  PRIMARY KEY (region, video_id)
) STRICT, WITHOUT ROWID;
