-- Origins of schema version 27 and later can read what this makes.
-- 1 where a source says that it is made for children: what visitors do with it is not counted.
ALTER TABLE videos ADD COLUMN made_for_kids INTEGER CHECK (made_for_kids = 1);

-- Of what was pulled, these are left out.
CREATE INDEX videos_for_kids ON videos (id) WHERE made_for_kids = 1;
