<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\PeerTube;

use TrendVault\Writer\Database\Database;

/** What is known of an instance from earlier runs: its pages with their entity tags, and where the next run goes on. */
final readonly class KnownPages
{
    private const string FIND = 'SELECT etag, item_count, videos FROM peertube_pages WHERE host = ? AND page = ?';
    private const string SAVE_PAGE = <<<'SQL'
    INSERT INTO peertube_pages (host, page, etag, item_count, videos) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET etag = excluded.etag, item_count = excluded.item_count, videos = excluded.videos
    SQL;
    private const string SAVE_NEXT = <<<'SQL'
    INSERT INTO peertube_instances (host, next_page) VALUES (?, ?)
    ON CONFLICT DO UPDATE SET next_page = excluded.next_page
    SQL;
    private const int MOST_UNPACKED_BYTES = 4 * 1024 * 1024;

    public function __construct(private Database $database, private string $host) {}

    /** The page, from 0, with which the next run begins; more than 0 when the last one did not come to the end. */
    public function next(): int
    {
        $next = $this->database->value('SELECT next_page FROM peertube_instances WHERE host = ?', [
            $this->host,
        ]);

        return (int) $next;
    }

    /** Null when it is not known, or cannot be asked for by an entity tag. */
    public function find(int $number): ?KnownPage
    {
        $row = $this->database->rows(self::FIND, [$this->host, $number])[0] ?? null;

        return $row === null
            ? null
            : new KnownPage($row['etag'], $row['item_count'], self::unpacked($row['videos']));
    }

    /**
     * @param array<int, KnownPage> $pages by number
     * @param int $next with which the next run begins
     * @param ?int $count of all pages; null when that is not known
     */
    public function save(array $pages, int $next, ?int $count): void
    {
        $this->database->transaction(function () use ($pages, $next, $count): void {
            foreach ($pages as $number => $page) {
                $this->savePage($number, $page);
            }
            if ($count !== null) {
                $this->database->run('DELETE FROM peertube_pages WHERE host = ? AND page >= ?', [
                    $this->host,
                    $count,
                ]);
            }
            $this->database->run(self::SAVE_NEXT, [$this->host, $next]);
        });
    }

    private function savePage(int $number, KnownPage $page): void
    {
        if ($page->etag === null) {
            $this->database->run('DELETE FROM peertube_pages WHERE host = ? AND page = ?', [
                $this->host,
                $number,
            ]);

            return;
        }
        $this->database->run(self::SAVE_PAGE, [
            $this->host,
            $number,
            $page->etag,
            $page->itemCount,
            self::packed($page->videos),
        ]);
    }

    /** @param list<array<string, int|string>> $videos */
    private static function packed(array $videos): string
    {
        $flags = JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_THROW_ON_ERROR;

        return base64_encode((string) gzcompress(json_encode($videos, $flags)));
    }

    /** @return list<array<string, int|string>> */
    private static function unpacked(string $packed): array
    {
        $json = gzuncompress((string) base64_decode($packed), self::MOST_UNPACKED_BYTES);

        return json_decode((string) $json, true) ?? [];
    }
}
