-- A page of a list as JSON, around its token. The parameters are region, window and limit.
WITH head AS MATERIALIZED (
  SELECT id, published_at, previous_at, newest_observed_at, max_per_channel, max_per_channel_ranks, look_weight,
    (SELECT coalesce(max(rank), 0) FROM trending
     WHERE generation = id AND region = code AND window = ?2 AND category = '') AS total
  FROM generations JOIN regions LEFT JOIN generation_regions ON generation = id AND region = code
  WHERE code = ?1 ORDER BY id DESC LIMIT 1
), listed AS (
  SELECT json_object('id', video_id, 'rank', rank, 'previous_rank', previous_rank, 'title', title, 'channel', channel,
    'category', v.category, 'published_at', strftime('%Y-%m-%dT%H:%M:%SZ', v.published_at, 'unixepoch'),
    'score', CAST(score * 10 + 0.5 AS INTEGER) / 10.0,
    'expected_views', CAST(expected_views * 10 + 0.5 AS INTEGER) / 10.0,
    'velocity', json_object('views_per_hour', CAST(views_per_hour * 10 + 0.5 AS INTEGER) / 10.0,
      'previous_views_per_hour', CAST(previous_views_per_hour * 10 + 0.5 AS INTEGER) / 10.0, 'views', views),
    'thumbs', json_array(thumb_base || '/hq.webp', thumb_base || '/sd.webp'), 'url', url) AS item
  FROM trending t JOIN videos v ON v.id = video_id
  WHERE generation = (SELECT id FROM head) AND region = ?1 AND window = ?2 AND t.category = ''
  ORDER BY rank LIMIT ?3
), items AS MATERIALIZED (SELECT count(*) AS count, group_concat(item) AS items FROM listed)
SELECT ?1 || '/' || ?2 || '//' || id || '/0+' || count AS subject,
  rtrim(json_object('region', ?1, 'window', ?2, 'category', NULL, 'generation', id,
    'generated_at', strftime('%Y-%m-%dT%H:%M:%SZ', published_at, 'unixepoch'),
    'previous_generated_at', strftime('%Y-%m-%dT%H:%M:%SZ', previous_at, 'unixepoch'),
    'newest_observed_at', strftime('%Y-%m-%dT%H:%M:%SZ', newest_observed_at, 'unixepoch'),
    'channel_limit', json_object('videos', max_per_channel, 'within_ranks', max_per_channel_ranks),
    'score_unit', CASE WHEN ifnull(look_weight, 0) = 0 THEN 'views' WHEN look_weight < 1 THEN 'mixed' ELSE 'clicks' END,
    'count', count, 'total', total), '}') || ',"token":"' AS before,
  '","items":[' || ifnull(items, '') || '],"next":' || json_quote(iif(count < total,
    '/api/trending?region=' || ?1 || iif(?2 = 'day', '', '&window=' || ?2) ||
    iif(?3 = 24, '', '&limit=' || CAST(?3 AS INTEGER)) || '&cursor=' || id || '-' || count, NULL)) || '}' AS after
FROM head JOIN items;
