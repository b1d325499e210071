<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\YouTube;

use TrendVault\Writer\Database\Database;

/** The ETags and page tokens of the last run. */
final readonly class KnownPages
{
    private const string SAVE = <<<'SQL'
    INSERT INTO youtube_pages (region, page, etag, next_page_token, fetched_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET etag = excluded.etag, next_page_token = excluded.next_page_token, fetched_at = excluded.fetched_at
    SQL;

    public function __construct(private Database $database) {}

    public function find(string $region, int $number): ?Page
    {
        $rows = $this->database->rows(
            'SELECT etag, next_page_token FROM youtube_pages WHERE region = ? AND page = ?',
            [$region, $number],
        );

        return $rows === [] ? null : new Page(null, $rows[0]['etag'], $rows[0]['next_page_token']);
    }

    /** @param array<string, array<int, Page>> $pages by region and number */
    public function save(array $pages, int $fetchedAt): void
    {
        $this->database->transaction(function () use ($pages, $fetchedAt): void {
            foreach ($pages as $region => $ofRegion) {
                foreach ($ofRegion as $number => $page) {
                    $this->database->run(self::SAVE, [
                        $region,
                        $number,
                        $page->etag,
                        $page->nextPageToken,
                        $fetchedAt,
                    ]);
                }
            }
        });
    }
}
