<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\YouTube;

use TrendVault\Writer\Database\Database;

/** Which videos the charts had lately, and in which regions. */
final readonly class ChartedVideos
{
    private const string ADD = <<<'SQL'
    INSERT INTO youtube_videos (region, video_id, page, charted_at) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET page = excluded.page, charted_at = excluded.charted_at
    SQL;
    private const string STILL = 'UPDATE youtube_videos SET charted_at = ? WHERE region = ? AND page = ?';
    private const string RECENT = <<<'SQL'
    SELECT video_id, region FROM youtube_videos WHERE video_id IN (
      SELECT video_id FROM youtube_videos JOIN videos ON videos.id = video_id
      GROUP BY video_id ORDER BY max(charted_at) DESC, video_id LIMIT ?
    ) ORDER BY video_id, region
    SQL;
    /** A video is counted for so long after the last chart that had it. */
    private const int KEPT_SECONDS = 2 * 86_400;

    public function __construct(private Database $database) {}

    /**
     * @param array<string, array<int, ?list<string>>> $pages ids by region and number of the page; null: it has not changed
     * @param int $now UTC seconds
     */
    public function save(array $pages, int $now): void
    {
        $this->database->transaction(function () use ($pages, $now): void {
            foreach ($pages as $region => $ofRegion) {
                foreach ($ofRegion as $page => $ids) {
                    if ($ids === null) {
                        $this->database->run(self::STILL, [$now, $region, $page]);
                    }
                    foreach ($ids ?? [] as $id) {
                        $this->database->run(self::ADD, [$region, $id, $page, $now]);
                    }
                }
            }
            $this->database->run('DELETE FROM youtube_videos WHERE charted_at < ?', [
                $now - self::KEPT_SECONDS,
            ]);
        });
    }

    /**
     * Those that are stored, the ones that were charted last first if there are more than so many.
     *
     * @return array<string, list<string>> regions by id
     */
    public function recent(int $most): array
    {
        $regions = [];
        foreach ($this->database->rows(self::RECENT, [$most]) as ['video_id' => $id, 'region' => $region]) {
            $regions[$id][] = $region;
        }

        return $regions;
    }
}
