-- Origins of schema version 27 and later can read what this makes.
-- The same sums with a half-life of two hours: where they differ from the others, a video has burst.
ALTER TABLE impressions ADD COLUMN recent_impressions REAL NOT NULL DEFAULT 0 CHECK (recent_impressions >= 0);
ALTER TABLE impressions ADD COLUMN recent_clicks REAL NOT NULL DEFAULT 0 CHECK (recent_clicks >= 0);
