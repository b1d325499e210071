-- Origins of schema version 27 and later can read what this makes.
ALTER TABLE http_sources ADD COLUMN silent_runs INTEGER NOT NULL DEFAULT 0 /* how many in a row waited in vain */;
ALTER TABLE http_sources ADD COLUMN failure TEXT /* why nothing is asked before retry_at */;

DROP VIEW source_pauses;
-- Which sources failed or asked for a pause, and are not asked before.
CREATE VIEW source_pauses (source, retry_at, reason) AS
SELECT source, retry_at, failure FROM source_schedules WHERE failure IS NOT NULL
UNION ALL
SELECT 'http:' || host, max(retry_at), coalesce(failure, 'The server asks for a pause.') FROM http_sources
WHERE host IS NOT NULL AND retry_at > asked_at GROUP BY host;
