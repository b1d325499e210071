-- Origins of schema version 27 and later can read what this makes.
-- Nothing has read these sums: what ranks is in impressions.
DROP TABLE pulled_videos;
