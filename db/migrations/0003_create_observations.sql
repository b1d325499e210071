-- The history. Ordered by time first, so that a run appends at one end and pruning cuts the other:
-- with the video first, every run would touch as many pages as there are videos.
-- previous_observed_at links a video's observations backwards in its region; velocity.last_observed_at
-- is the head of that chain. An observation that arrived after a newer one is stored outside the chain.
-- No foreign key to videos: checking it on delete would scan this table.
CREATE TABLE observations (
  observed_at INTEGER NOT NULL,
  region TEXT NOT NULL REFERENCES regions (code),
  video_id TEXT NOT NULL,
  views INTEGER NOT NULL CHECK (views >= 0), -- cumulative
  likes INTEGER CHECK (likes >= 0),
  comments INTEGER CHECK (comments >= 0),
  previous_observed_at INTEGER CHECK (previous_observed_at < observed_at),
  PRIMARY KEY (observed_at, region, video_id)
) STRICT, WITHOUT ROWID;
