-- Origins of schema version 27 and later can read what this makes.
-- What else a video's source says of it. Lists need none of it, so it is not in their rows.
CREATE TABLE details (
  video_id TEXT NOT NULL PRIMARY KEY REFERENCES videos (id) ON DELETE CASCADE,
  tags TEXT CHECK (json_valid(tags)), -- JSON: a list
  licence TEXT CHECK (length(licence) BETWEEN 1 AND 100), -- an SPDX id or a name
  titles TEXT CHECK (json_valid(titles)) -- JSON: by BCP 47 language
) STRICT, WITHOUT ROWID;

CREATE INDEX details_with_titles ON details (video_id) WHERE titles IS NOT NULL;

-- A title in a language of the region; null where that is the video's own.
ALTER TABLE trending ADD COLUMN title_in_region TEXT;
