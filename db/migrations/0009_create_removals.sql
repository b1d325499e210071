-- What may not be shown: by `writer remove`, or by a line with "removed": true; `writer allow` undoes it. The writer ranks
-- without it, and the origin leaves it out of every page of every generation that is kept, where its ranks stay empty.
CREATE TABLE removals (
  kind TEXT NOT NULL CHECK (kind IN ('video', 'channel')),
  name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 200), -- videos.id or videos.channel
  reason TEXT NOT NULL CHECK (length(reason) BETWEEN 1 AND 300),
  removed_at INTEGER NOT NULL,
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;

-- One row. The origin compares it: a removal changes no generation.
CREATE TABLE removals_version (version INTEGER NOT NULL) STRICT;
INSERT INTO removals_version (version) VALUES (0);
CREATE TRIGGER removal_added AFTER INSERT ON removals BEGIN UPDATE removals_version SET version = version + 1; END;
CREATE TRIGGER removal_undone AFTER DELETE ON removals BEGIN UPDATE removals_version SET version = version + 1; END;

ALTER TABLE runs ADD COLUMN removed INTEGER NOT NULL DEFAULT 0 CHECK (removed >= 0);
