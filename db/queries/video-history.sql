-- A video's newest observations in each region, newest first, at most ?2 a region.
-- ?1 video id, ?2 observations a region, ?3 region, or NULL for all of them; why with +, api/src/database/store.ts says.
-- It follows each region's chain backwards from the newest observation: `observations` is ordered by time, so that
-- looking a video up in it would read the whole table.
WITH RECURSIVE chain (region, observed_at, views, previous_observed_at, step) AS (
  SELECT o.region, o.observed_at, o.views, o.previous_observed_at, 1
  FROM velocity AS v
  JOIN observations AS o ON o.observed_at = v.last_observed_at AND o.region = v.region AND o.video_id = v.video_id
  WHERE v.video_id = +?1 AND (+?3 IS NULL OR v.region = +?3)
  UNION ALL
  SELECT o.region, o.observed_at, o.views, o.previous_observed_at, step + 1
  FROM chain
  JOIN observations AS o
    ON o.observed_at = chain.previous_observed_at AND o.region = chain.region AND o.video_id = +?1
  WHERE step < +?2
)
SELECT region, observed_at, views FROM chain ORDER BY region, observed_at DESC
