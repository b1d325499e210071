-- Origins of schema version 27 and later can read what this makes.
ALTER TABLE http_sources ADD COLUMN host TEXT CHECK (length(host) BETWEEN 1 AND 195) /* with its port; null before a pause */;

-- Which sources failed or asked for a pause, and are not asked before.
CREATE VIEW source_pauses (source, retry_at, reason) AS
SELECT source, retry_at, failure FROM source_schedules WHERE failure IS NOT NULL
UNION ALL
SELECT 'http:' || host, max(retry_at), 'The server asks for a pause.' FROM http_sources
WHERE host IS NOT NULL AND retry_at > asked_at GROUP BY host;
