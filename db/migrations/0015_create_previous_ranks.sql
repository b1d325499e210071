-- Where a video was in the same list about an hour before: null when it was not in it, or when nothing is known.
ALTER TABLE trending ADD COLUMN previous_rank INTEGER CHECK (previous_rank >= 1);

-- The published_at of the list that the ranks are compared with; null when there is none.
ALTER TABLE generations ADD COLUMN previous_at INTEGER CHECK (previous_at < published_at);
