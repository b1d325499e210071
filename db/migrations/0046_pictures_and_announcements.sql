-- Origins of schema version 27 and later can read what this makes.
-- A video's pictures with their sizes: JSON, a list of {url, width, height}.
ALTER TABLE details ADD COLUMN pictures TEXT CHECK (json_valid(pictures));

-- Those two that lists show, the larger one first: JSON. Null where a video has no pictures: then thumb_base says them.
ALTER TABLE videos ADD COLUMN thumbs TEXT CHECK (json_valid(thumbs));

-- When a source first announced the video in the region; 0 where that was before this column. A review holds what is new there.
ALTER TABLE catalogue ADD COLUMN first_announced_at INTEGER NOT NULL DEFAULT 0;

-- And when its first count there was stored, since a source may date its lines back; 0 as well.
ALTER TABLE velocity ADD COLUMN first_counted_at INTEGER NOT NULL DEFAULT 0;

-- What was counted there before has been known since then: under a review, it goes on to wait.
UPDATE catalogue SET first_announced_at = first_observed_at FROM velocity AS counted
WHERE counted.region = catalogue.region AND counted.video_id = catalogue.video_id;
