<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\Edge;

use Psr\Clock\ClockInterface;
use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Ranking\Window;
use TrendVault\Writer\Time\SystemClock;

/** What the edge can be asked about its counters. Asking changes nothing there. */
final readonly class ViewCounters
{
    /** Lists of a minute in an answer; a first minute that has more comes whole. */
    private const int LIMIT = 1000;
    private const int MOST_SHARDS = 10_000;
    private const string SHARD = '/^[A-Z]{2}-(?:[0-9]|[1-5][0-9]|6[0-3])$/D';

    public function __construct(private EdgeClient $client, private ClockInterface $clock) {}

    /**
     * @return list<string> such as GB-0
     * @throws EdgeFailure
     */
    public function shards(): array
    {
        $subject = 'the list of shards';
        $shards = $this->client->get('/api/views/shards', '', $subject)['shards'] ?? null;
        $isList =
            is_array($shards) &&
            array_is_list($shards) &&
            count($shards) <= self::MOST_SHARDS &&
            array_all(
                $shards,
                static fn(mixed $shard): bool => is_string($shard) && preg_match(self::SHARD, $shard) === 1,
            );

        return $isList
            ? array_values(array_unique($shards))
            : throw EdgeFailure::garbage($subject, 'names such as GB-0');
    }

    /**
     * @param ?int $after the last minute that is known; null for all that are kept
     * @throws EdgeFailure
     */
    public function minutes(string $shard, ?int $after): ClosedMinutes
    {
        $query = "?shard=$shard" . ($after === null ? '' : "&after=$after") . '&limit=' . self::LIMIT;
        $members = $this->client->get('/api/views/minutes', $query, $shard);

        return ClosedMinutes::read($members, $shard, $after, $this->clock->now()->getTimestamp());
    }

    /** Whether the timeout of all requests is not reached yet. */
    public function hasTime(): bool
    {
        return $this->client->secondsLeft() > 0;
    }
}

/**
 * Whole closed minutes of one shard, as contract/openapi.ts describes them, checked: an answer is taken whole or not
 * at all. A minute is Unix time / 60.
 *
 * @phpstan-type Looks array{minute: int, window: string, category: string, ranks: list<array{int, string, int, int}>}
 * @phpstan-type Served array{minute: int, window: string, category: string, pages: list<array{int, int, int}>}
 */
final readonly class ClosedMinutes
{
    /** The edge keeps minutes for 48 hours: one that is far older is a fault. */
    private const int OLDEST_SECONDS = 7 * 86_400;
    /** More of anything in one minute is a fault: a platform's largest sites serve less. */
    private const int MOST_OF_A_MINUTE = 1_000_000_000;
    private const int LAST_RANK = 10_000;
    private const int LONGEST_CATEGORY_BYTES = 400;

    /**
     * @param int $until every minute after $after and up to this one is here
     * @param ?int $lostUntil minutes after $after and up to this one were deleted before they were pulled
     * @param list<Looks> $looks rank, video, looks, views
     * @param list<Served> $served ranks before the page, ranks of the page, how often it was served
     */
    private function __construct(
        public string $shard,
        public ?int $after,
        public int $until,
        public int $lastClosed,
        public ?int $lostUntil,
        public array $looks,
        public array $served,
    ) {}

    /**
     * @param array<mixed> $members of the answer
     * @param ?int $after the cursor that was sent
     * @param int $now UTC seconds
     * @throws EdgeFailure that says what was expected
     */
    public static function read(array $members, string $shard, ?int $after, int $now): self
    {
        self::expect(($members['shard'] ?? null) === $shard, $shard, "shard $shard");
        self::expect(array_key_exists('after', $members), $shard, 'the member after');
        self::expect($members['after'] === $after, $shard, 'after as it was sent');
        [$until, $lastClosed] = [$members['until'] ?? null, $members['last_closed'] ?? null];
        self::expect(is_int($until) && is_int($lastClosed), $shard, 'until and last_closed, minutes');
        self::expect(
            ($lastClosed + 1) * 60 <= $now + SystemClock::TOLERANCE_SECONDS,
            $shard,
            'no minute of the future, and the clock of the edge says so: compare the clocks',
        );
        self::expect(
            $lastClosed >= (int) $after,
            $shard,
            "last_closed not before the minute $after, up to which it was pulled: the edge lost its counters, or is another one",
        );
        self::expect(
            $until >= (int) $after && $until >= 0 && $until <= $lastClosed,
            $shard,
            'until from after to last_closed',
        );
        self::expect(
            $until > (int) $after || $until === $lastClosed,
            $shard,
            'until to move while there are closed minutes after it',
        );
        $oldest = max(($after ?? 0) + 1, intdiv($now - self::OLDEST_SECONDS, 60));
        $lost = $members['lost_until'] ?? null;
        self::expect(
            $lost === null || (is_int($lost) && $lost * 60 <= $now + SystemClock::TOLERANCE_SECONDS),
            $shard,
            'lost_until, a minute that is over, or null',
        );

        return new self(
            $shard,
            $after,
            $until,
            $lastClosed,
            $lost,
            self::rows($members, 'looks', $shard, $oldest, $until),
            self::rows($members, 'served', $shard, $oldest, $until),
        );
    }

    public function region(): string
    {
        return substr($this->shard, 0, 2);
    }

    public function hasMore(): bool
    {
        return $this->until < $this->lastClosed;
    }

    /**
     * @param array<mixed> $members
     * @return list<array<string, mixed>>
     * @throws EdgeFailure
     */
    private static function rows(array $members, string $name, string $shard, int $oldest, int $until): array
    {
        $rows = $members[$name] ?? null;
        self::expect(is_array($rows) && array_is_list($rows), $shard, "$name, a list");
        foreach ($rows as $row) {
            $isRow =
                is_array($row) &&
                is_int($row['minute'] ?? null) &&
                $row['minute'] >= $oldest &&
                $row['minute'] <= $until;
            self::expect($isRow, $shard, "minutes from $oldest to $until in $name");
            $isList =
                is_string($row['window'] ?? null) &&
                Window::tryFrom($row['window']) !== null &&
                is_string($row['category'] ?? null) &&
                strlen($row['category']) <= self::LONGEST_CATEGORY_BYTES;
            self::expect($isList, $shard, "a window and a category in $name");
            self::expect(
                $name === 'looks' ? self::isLooks($row) : self::isServed($row),
                $shard,
                "ranks from 1 and counts from 0 to a billion in $name",
            );
        }

        return $rows;
    }

    /** @param array<mixed> $row */
    private static function isLooks(array $row): bool
    {
        $ranks = $row['ranks'] ?? null;

        return is_array($ranks) && array_is_list($ranks) && array_all($ranks, self::isRank(...));
    }

    private static function isRank(mixed $rank): bool
    {
        return is_array($rank) &&
            array_is_list($rank) &&
            count($rank) === 4 &&
            self::isCount($rank[0]) &&
            $rank[0] >= 1 &&
            $rank[0] <= self::LAST_RANK &&
            is_string($rank[1]) &&
            preg_match(ObservationParser::ID, $rank[1]) === 1 &&
            self::isCount($rank[2]) &&
            self::isCount($rank[3]);
    }

    /** @param array<mixed> $row */
    private static function isServed(array $row): bool
    {
        $pages = $row['pages'] ?? null;

        return is_array($pages) && array_is_list($pages) && array_all($pages, self::isPage(...));
    }

    private static function isPage(mixed $page): bool
    {
        return is_array($page) &&
            array_is_list($page) &&
            count($page) === 3 &&
            array_all($page, self::isCount(...)) &&
            $page[1] >= 1 &&
            $page[0] + $page[1] <= self::LAST_RANK;
    }

    private static function isCount(mixed $value): bool
    {
        return is_int($value) && $value >= 0 && $value <= self::MOST_OF_A_MINUTE;
    }

    /** @throws EdgeFailure */
    private static function expect(bool $isSo, string $shard, string $expected): void
    {
        if (!$isSo) {
            throw EdgeFailure::garbage($shard, $expected);
        }
    }
}
