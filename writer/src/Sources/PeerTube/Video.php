<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\PeerTube;

use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Observations\Restrictions;
use TrendVault\Writer\Sources\PlatformSource;
use TrendVault\Writer\Time\Rfc3339;

/**
 * A video as GET /api/v1/videos lists it (https://docs.joinpeertube.org/api-rest-reference.html), as fields of a line.
 * What is missing or of another kind is left out; validation has the last word.
 */
final readonly class Video
{
    /** VIDEO_CATEGORIES of PeerTube. Others come from plugins: an instance could make as many lists as it likes. */
    private const array CATEGORIES = [
        1 => 'Music',
        2 => 'Films',
        3 => 'Vehicles',
        4 => 'Art',
        5 => 'Sports',
        6 => 'Travels',
        7 => 'Gaming',
        8 => 'People',
        9 => 'Comedy',
        10 => 'Entertainment',
        11 => 'News & Politics',
        12 => 'How To',
        13 => 'Education',
        14 => 'Activism',
        15 => 'Science & Technology',
        16 => 'Animals',
        17 => 'Kids',
        18 => 'Food',
    ];
    /** VIDEO_LICENCES of PeerTube, which says no versions. Others come from plugins. */
    private const array LICENCES = [
        1 => 'CC BY',
        2 => 'CC BY-SA',
        3 => 'CC BY-ND',
        4 => 'CC BY-NC',
        5 => 'CC BY-NC-SA',
        6 => 'CC BY-NC-ND',
        7 => 'CC0-1.0',
    ];
    /** PeerTube has no other mark for what is made for children. */
    private const int KIDS = 17;
    private const string LANGUAGE = '/^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8}){0,3}$/D';
    /** "No linguistic content" (ISO 639-2). */
    private const string NO_LANGUAGE = 'zxx';
    private const int PUBLIC = 1;
    private const int MOST_TITLE_CHARACTERS = 300;
    private const int MOST_LICENCE_CHARACTERS = 100;
    private const int MOST_CHANNEL_CHARACTERS = 90;
    private const int MOST_COUNT = 9_007_199_254_740_991;
    /** PeerTube's short form of a UUID: base 58. */
    private const string SHORT_ID = '/^[1-9A-HJ-NP-Za-km-z]{16,24}$/D';
    private const int MOST_ID_CHARACTERS = 64;
    private const int HASH_CHARACTERS = 32;
    private const string THUMBNAIL_PATH = '~^(?:/[A-Za-z0-9_-][A-Za-z0-9_.-]*)+\.(?:jpe?g|png|webp|avif)$~D';
    private const int LONGEST_THUMBNAIL = 500;
    /** What a list shows is 160 pixels wide, on dense screens twice that. */
    private const int WANTED_WIDTH = 280;

    /** Whether the instance speaks of a video of its own: of all others their own instances know better. */
    public static function isOf(mixed $item, string $host): bool
    {
        return is_array($item) && ($item['isLocal'] ?? null) === true && self::host($item) === $host;
    }

    /** @return ?string the instance that a video is said to be of; null when it is not said */
    public static function host(mixed $item): ?string
    {
        $host = is_array($item) ? self::part($item, 'channel')['host'] ?? null : null;

        return is_string($host) ? strtolower($host) : null;
    }

    /**
     * The fields of a line, without region and time. Null for what is not for everybody. The list has live streams only
     * while they are on air: one that ended without a replay leaves a dead link, so that each line shows it for a while.
     *
     * @param array<mixed> $item for which isOf() is true
     * @param int $now UTC seconds
     * @return ?array<string, array<mixed>|bool|int|string>
     */
    public static function fields(array $item, InstanceUrl $instance, int $now): ?array
    {
        $short = $item['shortUUID'] ?? null;
        if (!is_string($short) || preg_match(self::SHORT_ID, $short) !== 1 || !self::isForAll($item)) {
            return null;
        }
        $category = self::category($item);
        $isMature = $item['nsfw'] ?? false;
        $isLive = $item['isLive'] ?? null;
        $fields = [
            'id' => self::id($short, $instance->host),
            'views' => is_int($item['views'] ?? null) ? $item['views'] : null,
            'likes' => self::count($item, 'likes'),
            'comments' => self::count($item, 'comments'),
            'title' => PlatformSource::plainText($item['name'] ?? null, self::MOST_TITLE_CHARACTERS),
            'channel' => self::channel($item, $instance->host),
            'category' => $category,
            'language' => self::language($item),
            'licence' => self::licence($item),
            'published_at' => self::publishedAt($item, $now),
            'duration_seconds' => $isLive === true ? null : self::count($item, 'duration'),
            'live' => is_bool($isLive) ? ($isLive ? 'now' : false) : null,
            'available_until' =>
                $isLive === true ? Rfc3339::format($now + Restrictions::LIVE_SECONDS['now']) : null,
            'unset' => $isLive === false ? ['available_until'] : null,
            'made_for_kids' => $category === self::CATEGORIES[self::KIDS],
            'mature' => is_bool($isMature) ? $isMature : 'not said',
            'thumb_base' => self::thumbnail($item, $instance->url),
            'pictures' => self::pictures($item, $instance->url),
            'url' => str_starts_with($instance->url, 'https:') ? "$instance->url/w/$short" : null,
        ];

        return array_filter($fields, static fn(array|bool|int|string|null $value): bool => $value !== null);
    }

    /** @param array<mixed> $item */
    private static function isForAll(array $item): bool
    {
        return (self::part($item, 'privacy')['id'] ?? self::PUBLIC) === self::PUBLIC;
    }

    /**
     * With the host: else an instance could give its channels the names of another's, which a limit or a removal then
     * would strike.
     *
     * @param array<mixed> $item
     */
    private static function channel(array $item, string $host): ?string
    {
        $channel = self::part($item, 'channel');
        $name = PlatformSource::plainText(
            $channel['displayName'] ?? ($channel['name'] ?? null),
            self::MOST_CHANNEL_CHARACTERS,
        );

        return $name === null ? null : "$name ($host)";
    }

    /** @param array<mixed> $item */
    private static function category(array $item): ?string
    {
        $id = self::part($item, 'category')['id'] ?? null;

        return is_int($id) ? self::CATEGORIES[$id] ?? null : null;
    }

    /** @param array<mixed> $item */
    private static function licence(array $item): ?string
    {
        $licence = self::part($item, 'licence');
        $id = $licence['id'] ?? null;

        return is_int($id)
            ? self::LICENCES[$id] ??
                    PlatformSource::plainText($licence['label'] ?? null, self::MOST_LICENCE_CHARACTERS)
            : null;
    }

    /** @param array<mixed> $item */
    private static function language(array $item): ?string
    {
        $id = self::part($item, 'language')['id'] ?? null;

        return is_string($id) && $id !== self::NO_LANGUAGE && preg_match(self::LANGUAGE, $id) === 1
            ? $id
            : null;
    }

    /**
     * When it was published there, which is not when it was made (originallyPublishedAt): its views count since then.
     *
     * @param array<mixed> $item
     */
    private static function publishedAt(array $item, int $now): ?string
    {
        $time = $item['publishedAt'] ?? null;
        $seconds = is_string($time) ? Rfc3339::parse($time) : null;

        return $seconds === null || $seconds < 0 || $seconds > $now ? null : Rfc3339::format($seconds);
    }

    /** @param array<mixed> $item */
    private static function count(array $item, string $name): ?int
    {
        $value = $item[$name] ?? null;

        return is_int($value) && $value >= 0 && $value <= self::MOST_COUNT ? $value : null;
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
     * PeerTube's short id and the host, so that no instance can claim a video of another.
     *
     * @param string $short as SHORT_ID says
     * @param string $host with its port; a long one is hashed, behind a mark that no host begins with
     */
    private static function id(string $short, string $host): string
    {
        $id = "$short~" . str_replace(['[', ']'], '', $host);

        return strlen($id) <= self::MOST_ID_CHARACTERS
            ? $id
            : "$short~~" . substr(hash('sha256', $host), 0, self::HASH_CHARACTERS);
    }

    /**
     * The picture, of its own instance only. Null when there is none of this kind, or only one whose address is too
     * long to be stored.
     *
     * @param array<mixed> $item
     * @param string $url of the instance: scheme, host and port
     */
    private static function thumbnail(array $item, string $url): ?string
    {
        $path = $item['thumbnailPath'] ?? null;

        return self::narrowest(self::thumbnails($item, $url)) ??
            (is_string($path) && self::isPath($path, $url) ? "$url$path" : null);
    }

    /**
     * The narrowest one that is wide enough.
     *
     * @param list<array{url: string, width: mixed, height: mixed}> $thumbnails
     */
    private static function narrowest(array $thumbnails): ?string
    {
        [$narrowest, $width] = [null, PHP_INT_MAX];
        foreach ($thumbnails as ['url' => $address, 'width' => $ofThis]) {
            if (is_int($ofThis) && $ofThis >= self::WANTED_WIDTH && $ofThis < $width) {
                [$narrowest, $width] = [$address, $ofThis];
            }
        }

        return $narrowest;
    }

    /**
     * @param array<mixed> $item
     * @return ?list<array<mixed>> null for none
     */
    private static function pictures(array $item, string $url): ?array
    {
        $pictures = array_filter(self::thumbnails($item, $url), ObservationParser::isPicture(...));

        return array_slice(array_values($pictures), 0, ObservationParser::MOST_PICTURES) ?: null;
    }

    /**
     * Those of the list that PeerTube 8.1 and newer have that are of the instance.
     *
     * @param array<mixed> $item
     * @return list<array{url: string, width: mixed, height: mixed}>
     */
    private static function thumbnails(array $item, string $url): array
    {
        $thumbnails = [];
        foreach (self::part($item, 'thumbnails') as $thumbnail) {
            $address = is_array($thumbnail) ? $thumbnail['fileUrl'] ?? null : null;
            if (
                is_string($address) &&
                str_starts_with($address, "$url/") &&
                self::isPath(substr($address, strlen($url)), $url)
            ) {
                $thumbnails[] = [
                    'url' => $address,
                    'width' => $thumbnail['width'] ?? null,
                    'height' => $thumbnail['height'] ?? null,
                ];
            }
        }

        return $thumbnails;
    }

    private static function isPath(string $path, string $url): bool
    {
        return strlen($url . $path) <= self::LONGEST_THUMBNAIL &&
            preg_match(self::THUMBNAIL_PATH, $path) === 1;
    }
}
