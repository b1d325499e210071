-- Origins of schema version 27 and later can read what this makes.
-- What editors lifted, as the editorial file in force says it: lines do not restrict the video with that field.
CREATE TABLE lifted (
  video_id TEXT NOT NULL,
  field TEXT NOT NULL,
  until INTEGER, -- the video is not shown from then on; null for ever
  PRIMARY KEY (video_id, field)
) STRICT, WITHOUT ROWID;
