-- Origins of schema version 27 and later can read what this makes.
-- What was pulled from the edge has the field's words: impressions for looks, clicks for views of a list.
ALTER TABLE pulled_counts RENAME COLUMN looks TO impressions;
ALTER TABLE pulled_counts RENAME COLUMN views TO clicks;
ALTER TABLE pulled_videos RENAME COLUMN looks TO impressions;
ALTER TABLE pulled_videos RENAME COLUMN views TO clicks;
ALTER TABLE pull_regions RENAME COLUMN looks TO impressions;
ALTER TABLE pull_regions RENAME COLUMN views TO clicks;
ALTER TABLE pull_regions RENAME COLUMN late_looks TO late_impressions;
ALTER TABLE pull_regions RENAME COLUMN late_views TO late_clicks;
ALTER TABLE pull_regions RENAME COLUMN settled_looks TO settled_impressions;
ALTER TABLE pull_regions RENAME COLUMN settled_views TO settled_clicks;
ALTER TABLE pull_regions RENAME COLUMN counted_looks TO counted_impressions;
ALTER TABLE pull_regions RENAME COLUMN counted_views TO counted_clicks;
