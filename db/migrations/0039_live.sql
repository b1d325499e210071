-- Origins of schema version 27 and later can read what this makes.
-- Whether it is live, as all sources together say: live_until is the end, also of what lapses without further lines.
ALTER TABLE videos ADD COLUMN live TEXT CHECK (live IN ('scheduled', 'now', 'recorded'));
ALTER TABLE videos ADD COLUMN live_until INTEGER;

-- Origins look for the next end.
CREATE INDEX videos_by_live_end ON videos (live_until) WHERE live_until IS NOT NULL;
