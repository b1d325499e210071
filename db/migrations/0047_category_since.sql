-- Origins of schema version 27 and later can read what this makes.
-- When a line gave a stored video its category; 0 where that was before this column, or the first line did. A review holds
-- what is new in a category's list, which is the later of this and of what says since when it is known in the region.
ALTER TABLE videos ADD COLUMN category_since INTEGER NOT NULL DEFAULT 0;
