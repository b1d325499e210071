-- Origins of schema version 27 and later can read what this makes.
-- Whose lines said what: each source has its own regions and removals, and one describes a video.
CREATE TABLE sources (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE CHECK (length(name) >= 1), -- its entry in SOURCES; of an address the host and a hash
  heard_at INTEGER NOT NULL, -- when the newest run began that had a line of it
  reading INTEGER NOT NULL CHECK (reading >= 1) -- how many files or answers of it were read
) STRICT;

-- The source whose lines describe the video; null while anybody's do.
ALTER TABLE videos ADD COLUMN described_by INTEGER;

-- One source may name a region that another does not. What was announced before has source 0.
ALTER TABLE catalogue RENAME TO old_catalogue;

CREATE TABLE catalogue (
  region TEXT NOT NULL REFERENCES regions (code),
  video_id TEXT NOT NULL REFERENCES videos (id) ON DELETE CASCADE,
  source INTEGER NOT NULL DEFAULT 0,
  announced_at INTEGER NOT NULL, -- when a line of the source named it last
  reading INTEGER NOT NULL DEFAULT 0, -- and in which of its files or answers
  PRIMARY KEY (region, video_id, source)
) STRICT, WITHOUT ROWID;

INSERT INTO catalogue (region, video_id, announced_at) SELECT region, video_id, announced_at FROM old_catalogue;

DROP TABLE old_catalogue;

CREATE INDEX catalogue_by_video ON catalogue (video_id);

-- The sources that took something down. A removal without any is the operator's.
CREATE TABLE removal_claims (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  source INTEGER NOT NULL,
  PRIMARY KEY (kind, name, source),
  FOREIGN KEY (kind, name) REFERENCES removals (kind, name) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

ALTER TABLE runs ADD COLUMN allowed INTEGER NOT NULL DEFAULT 0 CHECK (allowed >= 0);
