-- Origins of schema version 27 and later can read what this makes.
-- A video's pictures with their sizes: JSON, a list of {url, width, height}.
ALTER TABLE details ADD COLUMN pictures TEXT CHECK (json_valid(pictures));

-- Those two that lists show, the larger one first: JSON. Null where a video has no pictures: then thumb_base says them.
ALTER TABLE videos ADD COLUMN thumbs TEXT CHECK (json_valid(thumbs));
