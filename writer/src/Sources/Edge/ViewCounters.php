<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\Edge;

use Psr\Clock\ClockInterface;

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
