-- Origins of schema version 27 and later can read what this makes.
-- Whether it is live, as all sources together say: live_until is the end, also of what lapses without further lines.
ALTER TABLE videos ADD COLUMN live TEXT CHECK (live IN ('scheduled', 'now', 'recorded'));
ALTER TABLE videos ADD COLUMN live_until INTEGER;

-- What children watch: nothing that visitors do with it is counted. Lists of such videos have names that categories had.
ALTER TABLE videos ADD COLUMN made_for_kids INTEGER NOT NULL DEFAULT 0 CHECK (made_for_kids IN (0, 1));
UPDATE videos SET category = NULL WHERE category GLOB '#audience:*' OR category GLOB '#duration:*' OR category GLOB '#live:*';

-- Origins look for the next end.
CREATE INDEX videos_by_live_end ON videos (live_until) WHERE live_until IS NOT NULL;
