<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\YouTube;

use DateInterval;
use Exception;
use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Sources\PlatformSource;
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

    private const string PICTURES = 'https://i.ytimg.com/';
    private const int MOST_TITLE_CHARACTERS = 300;
    private const int MOST_CHANNEL_CHARACTERS = 200;
    private const int MOST_TITLES = 100;
    private const int MOST_TAGS = 30;
    private const int MOST_TAG_CHARACTERS = 100;

    /**
     * @param array<mixed> $item
     * @param int $observedAt UTC seconds
     */
    public static function line(array $item, string $region, int $observedAt): string
    {
        $id = self::text($item, 'id');
        $snippet = self::part($item, 'snippet');
        $details = self::part($item, 'contentDetails');
        $fields = [
            'id' => $id,
            'region' => $region,
            'observed_at' => Rfc3339::format($observedAt),
            'views' => self::count($item, 'viewCount'),
            'likes' => self::count($item, 'likeCount'),
            'comments' => self::count($item, 'commentCount'),
            'title' => PlatformSource::plainText($snippet['title'] ?? null, self::MOST_TITLE_CHARACTERS),
            'channel' => PlatformSource::plainText(
                $snippet['channelTitle'] ?? null,
                self::MOST_CHANNEL_CHARACTERS,
            ),
            'category' => self::CATEGORIES[self::text($snippet, 'categoryId') ?? ''] ?? null,
            'language' =>
                self::text($snippet, 'defaultAudioLanguage') ?? self::text($snippet, 'defaultLanguage'),
            'published_at' => self::text($snippet, 'publishedAt'),
            'duration_seconds' => self::seconds(self::text($details, 'duration')),
            'tags' => self::tags($snippet['tags'] ?? null),
            'licence' => match (self::text(self::part($item, 'status'), 'license')) {
                'creativeCommon' => 'CC BY',
                'youtube' => 'Standard YouTube License',
                default => null,
            },
            'titles' => self::titles($item),
            'pictures' => self::pictures($snippet),
            'live' => match (self::text($snippet, 'liveBroadcastContent')) {
                'live' => 'now',
                'upcoming' => 'scheduled',
                'none' => false,
                default => null,
            },
            'mature' => self::text(self::part($details, 'contentRating'), 'ytRating') === 'ytAgeRestricted',
            'made_for_kids' => self::isForKids($item),
            'countries' => self::countries($details['regionRestriction'] ?? []),
            'thumb_base' => $id === null ? null : self::PICTURES . "vi/$id/hqdefault.jpg",
        ];

        return json_encode(
            array_filter($fields, static fn(array|bool|int|string|null $value): bool => $value !== null),
            JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_THROW_ON_ERROR,
        );
    }

    /** @return ?list<string> null for none */
    private static function tags(mixed $tags): ?array
    {
        $texts = array_map(
            static fn(mixed $tag): ?string => PlatformSource::plainText($tag, self::MOST_TAG_CHARACTERS),
            is_array($tags) ? array_values($tags) : [],
        );

        return array_slice(array_values(array_filter($texts)), 0, self::MOST_TAGS) ?: null;
    }

    /**
     * @param array<mixed> $item
     * @return ?array<string, string> by language; null for none
     */
    private static function titles(array $item): ?array
    {
        $titles = [];
        foreach (self::part($item, 'localizations') as $language => $localization) {
            $title = is_array($localization) ? $localization['title'] ?? null : null;
            $text = PlatformSource::plainText($title, self::MOST_TITLE_CHARACTERS);
            if (
                ObservationParser::isText($text, self::MOST_TITLE_CHARACTERS) &&
                ObservationParser::isLanguage($language)
            ) {
                $titles[$language] = $text;
            }
        }

        return array_slice($titles, 0, self::MOST_TITLES) ?: null;
    }

    /**
     * @param array<mixed> $snippet
     * @return ?list<array{url: string, width: int, height: int}> null for none
     */
    private static function pictures(array $snippet): ?array
    {
        $ofHost = static fn(mixed $picture): bool => ObservationParser::isPicture($picture) &&
            str_starts_with($picture['url'], self::PICTURES);
        /** @var list<array{url: string, width: int, height: int}> $pictures */
        $pictures = array_values(array_filter(self::part($snippet, 'thumbnails'), $ofHost));

        return array_slice($pictures, 0, ObservationParser::MOST_PICTURES) ?: null;
    }

    /**
     * What cannot be read holds the video back; what is not said is not said by us, either.
     *
     * @param array<mixed> $item
     */
    private static function isForKids(array $item): bool|string|null
    {
        $isForKids = self::part($item, 'status')['madeForKids'] ?? null;

        return is_bool($isForKids) || $isForKids === null ? $isForKids : 'not said';
    }

    /**
     * What cannot be read holds the video back.
     *
     * @return array<string, list<string>>|string
     */
    private static function countries(mixed $restriction): array|string
    {
        foreach (['allowed' => 'allowed', 'blocked' => 'excluded'] as $theirs => $ours) {
            $codes = is_array($restriction) ? $restriction[$theirs] ?? null : null;
            if (is_array($codes) && array_filter($codes, is_string(...)) === $codes) {
                return [$ours => array_values($codes)];
            }
        }

        return $restriction === [] ? ['excluded' => []] : 'not said';
    }

    /**
     * @param array<mixed> $parent
     * @return array<mixed>
     */
    private static function part(array $parent, string $name): array
    {
        return is_array($parent[$name] ?? null) ? $parent[$name] : [];
    }

    /**
     * Null for what is no text.
     *
     * @param array<mixed> $parent
     */
    private static function text(array $parent, string $name): ?string
    {
        return is_string($parent[$name] ?? null) ? $parent[$name] : null;
    }

    /**
     * Counts come as text.
     *
     * @param array<mixed> $item
     */
    private static function count(array $item, string $name): int|string|null
    {
        $value = self::part($item, 'statistics')[$name] ?? null;

        return match (true) {
            is_string($value) && ctype_digit($value) => (int) $value,
            is_int($value), is_string($value) => $value,
            default => null,
        };
    }

    /** An ISO 8601 duration such as PT4M13S. */
    private static function seconds(?string $duration): ?int
    {
        try {
            $interval = new DateInterval($duration ?? '');

            return (($interval->d * 24 + $interval->h) * 60 + $interval->i) * 60 + $interval->s;
        } catch (Exception) {
            return null;
        }
    }
}
