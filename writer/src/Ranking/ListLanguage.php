<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

use TrendVault\Writer\Observations\ObservationParser;

/** Which languages have lists of their own, and what these lists are called. */
final readonly class ListLanguage
{
    /** As many as the first ranks, in which channels are limited. */
    public const int LEAST_VIDEOS = ChannelLimit::WITHIN_RANKS;
    public const int MOST_IN_REGION = 5;
    /** ISO 639-2: undetermined, of no language, of several, of one without a code. */
    private const array NO_LANGUAGE = ['und', 'zxx', 'mul', 'mis'];

    /**
     * The primary subtag, in lower case: the range that takes the tag, however many subtags it has (RFC 4647, 3.3.1).
     * Null for what no registered language has (RFC 5646, 2.2.1: these have 2 or 3 letters).
     *
     * @param ?string $tag BCP 47
     */
    public static function of(?string $tag): ?string
    {
        return preg_match('/^([a-z]{2,3})(?:-|$)/iD', $tag ?? '', $match) === 1 &&
            !in_array(strtolower($match[1]), self::NO_LANGUAGE, true)
            ? strtolower($match[1])
            : null;
    }

    public static function listName(string $language): string
    {
        return ObservationParser::LANGUAGE_LISTS . $language;
    }

    /**
     * @param array<string, int> $videos how many a region has, by language
     * @return list<string> those with the most, of which there are enough
     */
    public static function chosen(array $videos): array
    {
        $enough = array_filter($videos, static fn(int $count): bool => $count >= self::LEAST_VIDEOS);
        ksort($enough, SORT_STRING);
        arsort($enough, SORT_NUMERIC); // stable

        return array_slice(array_keys($enough), 0, self::MOST_IN_REGION);
    }
}
