-- The running state of the forecast: what a run needs to know of all earlier runs.
CREATE TABLE velocity (
  video_id TEXT NOT NULL REFERENCES videos (id),
  region TEXT NOT NULL REFERENCES regions (code),
  first_observed_at INTEGER NOT NULL,
  last_observed_at INTEGER NOT NULL CHECK (last_observed_at >= first_observed_at),
  observation_count INTEGER NOT NULL CHECK (observation_count >= 1),
  views INTEGER NOT NULL CHECK (views >= 0), -- at last_observed_at
  views_per_hour REAL NOT NULL CHECK (views_per_hour >= 0), -- the average since publication at first, then of what was gained lately
  rated_at REAL NOT NULL CHECK (rated_at BETWEEN 0 AND last_observed_at), -- the moment that views_per_hour is about
  previous_views_per_hour REAL CHECK (previous_views_per_hour >= 0), -- a slower average of earlier rates; null until there were two observations
  description_hash INTEGER NOT NULL, -- of what the last line said about the video: the same again needs no look at videos
  PRIMARY KEY (video_id, region)
) STRICT, WITHOUT ROWID;
