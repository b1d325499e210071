<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\YouTube;

use DateInterval;
use Exception;
use TrendVault\Writer\Time\Rfc3339;

/** An item of videos.list as a line of NDJSON. What is missing is left out; validation has the last word. */
final class Video
{
    /** videoCategories.list, which differs between regions only in which of these may be chosen. */
    private const array CATEGORIES = [
        '1' => 'Film & Animation',
        '2' => 'Autos & Vehicles',
        '10' => 'Music',
        '15' => 'Pets & Animals',
        '17' => 'Sports',
        '19' => 'Travel & Events',
        '20' => 'Gaming',
        '22' => 'People & Blogs',
        '23' => 'Comedy',
        '24' => 'Entertainment',
        '25' => 'News & Politics',
        '26' => 'Howto & Style',
        '27' => 'Education',
        '28' => 'Science & Technology',
        '29' => 'Nonprofits & Activism',
    ];

    /**
     * @param array<mixed> $item
     * @param int $observedAt UTC seconds
     */
    public static function line(array $item, string $region, int $observedAt): string
    {
        $id = $item['id'] ?? null;
        $fields = [
            'id' => $id,
            'region' => $region,
            'observed_at' => Rfc3339::format($observedAt),
            'views' => self::count($item, 'viewCount'),
            'likes' => self::count($item, 'likeCount'),
            'comments' => self::count($item, 'commentCount'),
            'title' => $item['snippet']['title'] ?? null,
            'channel' => $item['snippet']['channelTitle'] ?? null,
            'category' => self::CATEGORIES[$item['snippet']['categoryId'] ?? ''] ?? null,
            'language' =>
                $item['snippet']['defaultAudioLanguage'] ?? ($item['snippet']['defaultLanguage'] ?? null),
            'published_at' => $item['snippet']['publishedAt'] ?? null,
            'duration_seconds' => self::seconds($item['contentDetails']['duration'] ?? null),
            'thumb_base' => is_string($id) ? "https://i.ytimg.com/vi/$id" : null,
        ];

        return json_encode(
            array_filter($fields, static fn(mixed $value): bool => $value !== null),
            JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_THROW_ON_ERROR,
        );
    }

    /**
     * Counts come as text.
     *
     * @param array<mixed> $item
     */
    private static function count(array $item, string $name): mixed
    {
        $value = $item['statistics'][$name] ?? null;

        return is_string($value) && ctype_digit($value) ? (int) $value : $value;
    }

    /** An ISO 8601 duration such as PT4M13S. */
    private static function seconds(mixed $duration): ?int
    {
        try {
            $interval = new DateInterval(is_string($duration) ? $duration : '');

            return (($interval->d * 24 + $interval->h) * 60 + $interval->i) * 60 + $interval->s;
        } catch (Exception) {
            return null;
        }
    }
}
