-- How often a listed video had been viewed at each full hour of about the last day, for charts: one row is read, in
-- place of a day of observations.
CREATE TABLE hourly_views (
  region TEXT NOT NULL REFERENCES regions (code),
  video_id TEXT NOT NULL,
  hour INTEGER NOT NULL, -- the last one that is known: hours since 1970
  views TEXT NOT NULL CHECK (json_valid(views)), -- JSON: cumulative counts up to that hour, oldest first, null where nobody counted
  PRIMARY KEY (region, video_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX hourly_views_by_hour ON hourly_views (hour, region, video_id);
