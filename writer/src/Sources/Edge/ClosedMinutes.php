<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\Edge;

use Closure;
use Exception;
use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Ranking\Window;
use TrendVault\Writer\Time\SystemClock;

/**
 * Whole closed minutes of one shard, as contract/openapi.ts describes them, checked: an answer is taken whole or not
 * at all. A minute is Unix time / 60.
 *
 * @phpstan-type Impressions array{minute: int, window: string, category: string, ranks: list<array{int, string, int, int}>}
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
     * @param list<Impressions> $impressions rank, video, impressions, clicks
     * @param list<Served> $served ranks before the page, ranks of the page, how often it was served
     */
    private function __construct(
        public string $shard,
        public ?int $after,
        public int $until,
        public int $lastClosed,
        public ?int $lostUntil,
        public array $impressions,
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
        $until = self::minute($members['until'] ?? null, $shard, 'until and last_closed, minutes');
        $lastClosed = self::minute($members['last_closed'] ?? null, $shard, 'until and last_closed, minutes');
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
        $expected = 'lost_until, a minute that is over, or null';
        $lost = isset($members['lost_until'])
            ? self::minute($members['lost_until'], $shard, $expected)
            : null;
        self::expect((int) $lost * 60 <= $now + SystemClock::TOLERANCE_SECONDS, $shard, $expected);

        return new self(
            $shard,
            $after,
            $until,
            $lastClosed,
            $lost,
            self::impressions($members, $shard, $oldest, $until),
            self::served($members, $shard, $oldest, $until),
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
     * @return list<Impressions>
     * @throws EdgeFailure
     */
    private static function impressions(array $members, string $shard, int $oldest, int $until): array
    {
        $impressions = [];
        foreach (self::rows($members, 'looks', $shard) as $row) {
            $impressions[] = [
                ...self::listOf($row, 'looks', $shard, $oldest, $until),
                'ranks' => self::counts($row, 'ranks', self::rank(...), 'looks', $shard),
            ];
        }

        return $impressions;
    }

    /**
     * @param array<mixed> $members
     * @return list<Served>
     * @throws EdgeFailure
     */
    private static function served(array $members, string $shard, int $oldest, int $until): array
    {
        $served = [];
        foreach (self::rows($members, 'served', $shard) as $row) {
            $served[] = [
                ...self::listOf($row, 'served', $shard, $oldest, $until),
                'pages' => self::counts($row, 'pages', self::page(...), 'served', $shard),
            ];
        }

        return $served;
    }

    /**
     * @param array<mixed> $members
     * @return list<mixed>
     * @throws EdgeFailure
     */
    private static function rows(array $members, string $name, string $shard): array
    {
        $rows = $members[$name] ?? null;

        return is_array($rows) && array_is_list($rows)
            ? $rows
            : throw EdgeFailure::garbage($shard, "$name, a list");
    }

    /**
     * Which list a row is about, and when.
     *
     * @return array{minute: int, window: string, category: string}
     * @throws EdgeFailure
     */
    private static function listOf(mixed $row, string $name, string $shard, int $oldest, int $until): array
    {
        $row = is_array($row) ? $row : [];
        $expected = "minutes from $oldest to $until in $name";
        $minute = self::minute($row['minute'] ?? null, $shard, $expected);
        self::expect($minute >= $oldest && $minute <= $until, $shard, $expected);
        [$window, $category] = [$row['window'] ?? null, $row['category'] ?? null];

        return is_string($window) &&
            Window::tryFrom($window) !== null &&
            is_string($category) &&
            strlen($category) <= self::LONGEST_CATEGORY_BYTES
            ? ['minute' => $minute, 'window' => $window, 'category' => $category]
            : throw EdgeFailure::garbage($shard, "a window and a category in $name");
    }

    /**
     * @template T of array
     * @param Closure(mixed): ?T $read null for what is none
     * @return list<T>
     * @throws EdgeFailure
     */
    private static function counts(
        mixed $row,
        string $member,
        Closure $read,
        string $name,
        string $shard,
    ): array {
        $expected = "ranks from 1 and counts from 0 to a billion in $name";
        $entries = is_array($row) ? $row[$member] ?? null : null;
        if (!is_array($entries) || !array_is_list($entries)) {
            throw EdgeFailure::garbage($shard, $expected);
        }
        $counts = [];
        foreach ($entries as $entry) {
            $counts[] = $read($entry) ?? throw EdgeFailure::garbage($shard, $expected);
        }

        return $counts;
    }

    /** @return ?array{int, string, int, int} */
    private static function rank(mixed $entry): ?array
    {
        if (!is_array($entry) || !array_is_list($entry) || count($entry) !== 4) {
            return null;
        }
        [$rank, $video, $impressions, $clicks] = $entry;

        $isRank =
            self::isCount($rank) &&
            $rank >= 1 &&
            $rank <= self::LAST_RANK &&
            is_string($video) &&
            preg_match(ObservationParser::ID, $video) === 1 &&
            self::isCount($impressions) &&
            self::isCount($clicks);

        /** @var array{int, string, int, int} $entry not copied: an answer may have 360,000 of them */
        return $isRank ? $entry : null;
    }

    /** @return ?array{int, int, int} */
    private static function page(mixed $entry): ?array
    {
        if (!is_array($entry) || !array_is_list($entry) || count($entry) !== 3) {
            return null;
        }
        [$before, $ranks, $times] = $entry;

        return self::isCount($before) &&
            self::isCount($ranks) &&
            self::isCount($times) &&
            $ranks >= 1 &&
            $before + $ranks <= self::LAST_RANK
            ? [$before, $ranks, $times]
            : null;
    }

    /** @phpstan-assert-if-true int $value */
    private static function isCount(mixed $value): bool
    {
        return is_int($value) && $value >= 0 && $value <= self::MOST_OF_A_MINUTE;
    }

    /** @throws EdgeFailure */
    private static function minute(mixed $value, string $shard, string $expected): int
    {
        return is_int($value) ? $value : throw EdgeFailure::garbage($shard, $expected);
    }

    /** @throws EdgeFailure */
    private static function expect(bool $isSo, string $shard, string $expected): void
    {
        if (!$isSo) {
            throw EdgeFailure::garbage($shard, $expected);
        }
    }
}

/** A request that the edge did not answer as documented. */
final class EdgeFailure extends Exception
{
    /**
     * @param bool $isRefusal whether requests for other shards would fail, too
     * @param bool $isSilence whether it was waited for in vain
     */
    public function __construct(
        string $message,
        public readonly bool $isRefusal = false,
        public readonly bool $isSilence = false,
    ) {
        parent::__construct($message);
    }

    public static function late(string $subject): self
    {
        return new self(
            "The edge took too long: the timeout was reached before $subject.",
            isRefusal: true,
            isSilence: true,
        );
    }

    public static function noAnswer(string $subject, string $reason, bool $isSilence = false): self
    {
        return new self("The edge does not answer for $subject: $reason.", isSilence: $isSilence);
    }

    public static function status(int $status, string $subject, string $detail): self
    {
        $said = $detail === '' ? '' : " ($detail)";

        return match ($status) {
            401, 403 => new self(
                "The edge refuses the signature of the request for $subject$said. Expected one key of VIEWS_KEYS at both, and clocks that differ by less than a minute.",
                isRefusal: true,
            ),
            404 => new self(
                'The edge does not count impressions: expected VIEWS_KEYS and the binding VIEWS to be set there.',
                isRefusal: true,
            ),
            default => self::noAnswer($subject, "status $status$said"),
        };
    }

    public static function garbage(string $subject, string $expected): self
    {
        return new self(
            "The edge answered the request for $subject with a body that is not the documented one: expected $expected. Nothing of it was stored.",
        );
    }
}
