<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\Http;

use TrendVault\Writer\Database\Database;

/** Which version of each address was read last, and which are not to be asked yet. An address is kept as its hash: it may have a key in it. */
final readonly class KnownVersions
{
    private const string SAVE = <<<'SQL'
    INSERT INTO http_sources (url_hash, etag, asked_at, retry_at) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET etag = ifnull(excluded.etag, etag), asked_at = excluded.asked_at, retry_at = excluded.retry_at
    SQL;

    public function __construct(private Database $database) {}

    /** The entity tag of what was read to its end; null when nothing was, or it had none. */
    public function etag(string $url): ?string
    {
        return $this->database->value("SELECT nullif(etag, '') FROM http_sources WHERE url_hash = ?", [
            self::hash($url),
        ]);
    }

    /** UTC seconds; 0 when it may be asked: also where it was last asked by a clock that was ahead, as that says nothing. */
    public function retryAt(string $url, int $now): int
    {
        $sql = 'SELECT retry_at FROM http_sources WHERE url_hash = ? AND asked_at <= ?';
        $retryAt = $this->database->value($sql, [self::hash($url), $now]);

        return (int) $retryAt;
    }

    public function saveRead(string $url, ?string $etag, int $now): void
    {
        $this->database->run(self::SAVE, [self::hash($url), $etag ?? '', $now, 0]);
    }

    /** Once an hour is enough to see that it is asked for. */
    public function saveUnchanged(string $url, int $now): void
    {
        $this->database->run(
            'UPDATE http_sources SET asked_at = ?1, retry_at = 0 WHERE url_hash = ?2 AND asked_at < ?1 - 3600',
            [$now, self::hash($url)],
        );
    }

    public function savePause(string $url, int $retryAt, int $now): void
    {
        $this->database->run(self::SAVE, [self::hash($url), null, $now, $retryAt]);
    }

    private static function hash(string $url): string
    {
        return hash('sha256', $url);
    }
}
