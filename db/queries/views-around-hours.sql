-- The observations of a video in a region on both sides of each full hour, newest first.
-- ?1 video id, ?2 region, ?3 the chain is followed back to the first observation at or before this time, in UTC seconds,
-- ?4 but over at most so many observations; `steps` says how many it were.
WITH RECURSIVE chain (observed_at, views, previous_observed_at, next_observed_at, step) AS (
  SELECT o.observed_at, o.views, o.previous_observed_at, NULL, 1
  FROM velocity AS v
  JOIN observations AS o ON o.observed_at = v.last_observed_at AND o.region = v.region AND o.video_id = v.video_id
  WHERE v.video_id = ?1 AND v.region = ?2
  UNION ALL
  SELECT o.observed_at, o.views, o.previous_observed_at, chain.observed_at, step + 1
  FROM chain
  JOIN observations AS o
    ON o.observed_at = chain.previous_observed_at AND o.region = ?2 AND o.video_id = ?1
  WHERE chain.observed_at > ?3 AND step < ?4
)
SELECT observed_at, views, step AS steps FROM chain
WHERE observed_at / 3600 > ifnull(previous_observed_at, 0) / 3600 OR next_observed_at / 3600 > observed_at / 3600
ORDER BY observed_at DESC
