<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\PeerTube;

/** The picture of a video: of its own instance only, by https. */
final readonly class Thumbnail
{
    private const string PATH = '~^(?:/[A-Za-z0-9_-][A-Za-z0-9_.-]*)+\.(?:jpe?g|png|webp|avif)$~D';
    private const int LONGEST = 500;
    /** What a list shows is 160 pixels wide, on dense screens twice that. */
    private const int WANTED_WIDTH = 280;

    /**
     * Null when there is none of this kind, or only one whose address is too long to be stored.
     *
     * @param array<mixed> $item
     * @param string $url of the instance: scheme, host and port
     */
    public static function of(array $item, string $url): ?string
    {
        $path = self::narrowest($item, $url) ?? ($item['thumbnailPath'] ?? null);

        return is_string($path) &&
            strlen($url . $path) <= self::LONGEST &&
            preg_match(self::PATH, $path) === 1
            ? "$url$path"
            : null;
    }

    /**
     * The path of the narrowest one that is wide enough, from the list that PeerTube 8.1 and newer have.
     *
     * @param array<mixed> $item
     */
    private static function narrowest(array $item, string $url): ?string
    {
        [$path, $width] = [null, PHP_INT_MAX];
        foreach (is_array($item['thumbnails'] ?? null) ? $item['thumbnails'] : [] as $thumbnail) {
            $own = is_array($thumbnail) ? self::ownPath($thumbnail['fileUrl'] ?? null, $url) : null;
            $ofThis = $thumbnail['width'] ?? null;
            if ($own !== null && is_int($ofThis) && $ofThis >= self::WANTED_WIDTH && $ofThis < $width) {
                [$path, $width] = [$own, $ofThis];
            }
        }

        return $path;
    }

    private static function ownPath(mixed $fileUrl, string $url): ?string
    {
        return is_string($fileUrl) && str_starts_with($fileUrl, "$url/")
            ? substr($fileUrl, strlen($url))
            : null;
    }
}
