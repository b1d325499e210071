-- Origins of schema version 27 and later can read what this makes.
-- What each source says about when and where a video may be shown: JSON of mature, available_from, available_until and
-- countries, null for a bad value, which holds the video back.
CREATE TABLE restrictions (
  video_id TEXT NOT NULL REFERENCES videos (id) ON DELETE CASCADE,
  source INTEGER NOT NULL,
  -- The time of the newest line that said something of it: an older one changes nothing.
  said_at INTEGER NOT NULL,
  fields TEXT NOT NULL CHECK (json_valid(fields)),
  PRIMARY KEY (video_id, source)
) STRICT, WITHOUT ROWID;

-- What all sources together say. Nothing is shown before the one time, and from the other one on.
ALTER TABLE videos ADD COLUMN available_from INTEGER;
ALTER TABLE videos ADD COLUMN available_until INTEGER;
-- Why it is in no list, such as 'mature'.
ALTER TABLE videos ADD COLUMN held_because TEXT;
-- JSON: {"allowed": […]} or {"excluded": […]}, of ISO 3166-1 alpha-2.
ALTER TABLE videos ADD COLUMN countries TEXT CHECK (json_valid(countries));

-- Origins look for the next end, and the writer counts what is held back.
CREATE INDEX videos_by_end ON videos (available_until) WHERE available_until IS NOT NULL;
CREATE INDEX videos_by_reason ON videos (held_because) WHERE held_because IS NOT NULL;
