<?php

declare(strict_types=1);

namespace TrendVault\Writer\Bench;

use TrendVault\Writer\Database\RegionTable;

/**
 * Writes a file of observations: any number of videos, each in one of the regions of db/regions.json, once a minute.
 * Files of the same day describe a video alike, so only its first line changes the table videos.
 */
final class ObservationFile
{
    private const string REGIONS_FILE = __DIR__ . '/../../db/regions.json';
    private const int CATEGORIES = 15;
    private const int VIDEOS_PER_CHANNEL = 6;

    /** @param int $start UTC seconds of the first minute */
    public static function write(string $path, int $videos, int $minutes, int $start): void
    {
        $regions = RegionTable::read((string) file_get_contents(self::REGIONS_FILE))->codes();
        $file = fopen($path, 'wb') ?: throw new \RuntimeException("Cannot write $path.");
        for ($minute = 0; $minute < $minutes; $minute++) {
            for ($video = 0; $video < $videos; $video++) {
                fwrite($file, self::line($video, $regions[$video % count($regions)], $minute, $start) . "\n");
            }
        }
        fclose($file);
    }

    private static function line(int $video, string $region, int $minute, int $start): string
    {
        $id = substr(strtr(base64_encode(md5((string) $video, true)), '+/', '-_'), 0, 11);

        return json_encode(
            [
                'id' => $id,
                'region' => $region,
                'observed_at' => gmdate('Y-m-d\TH:i:s\Z', $start + 60 * $minute),
                'views' => 1000 + ($video % 100_000) * $minute,
                'likes' => $video,
                'comments' => $video % 100,
                'title' => "Title of video $video, which is about as long as titles are",
                'channel' => 'Channel ' . intdiv($video, self::VIDEOS_PER_CHANNEL),
                'category' => 'Category ' . $video % self::CATEGORIES,
                'language' => 'en',
                'published_at' => gmdate(
                    'Y-m-d\TH:i:s\Z',
                    $start - ($start % 86_400) - ($video % 10_000) * 60,
                ),
                'duration_seconds' => $video % 3600,
                'thumb_base' => "https://thumbs.example/$id",
            ],
            JSON_UNESCAPED_SLASHES | JSON_THROW_ON_ERROR,
        );
    }
}
