<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Pull;

use TrendVault\Writer\Tests\Support\PhpServer;

/** Answers /api/views/shards and /api/views/minutes as the edge does, on a port of its own; faults included. */
final class FakeEdge
{
    public const string KEYS = 'v1:MRZQXbCkdY7RCNvJY15Kh3t5bXU9L1z6DcETQ1dz2pk';
    /** What an answer can be in place of the right one; edge.php says what each does. */
    public const array FAULTS = [
        'status 503',
        'status 500',
        'status 429',
        'disconnected',
        'truncated',
        'no JSON',
        'a list',
        'empty object',
        'future',
        'clock back',
        'another shard',
        'answered before',
        'out of order',
        'cursor stays',
        'cursor back',
        'negative',
        'absurd',
        'fraction',
        'text',
        'minute before',
        'minute behind',
        'page of 0 ranks',
        'rank 0',
        'no id',
        'redirect',
    ];

    public readonly string $url;
    private readonly PhpServer $server;
    private int $draws = 0;

    /** @param array<string, string> $environment of edge.php */
    public function __construct(array $environment = [])
    {
        $this->server = new PhpServer(__DIR__ . '/edge.php', ['EDGE_KEYS' => self::KEYS, ...$environment]);
        $this->url = $this->server->address;
    }

    /**
     * @param array<string, array{last_closed: int, first?: int, looks?: list<mixed>, served?: list<mixed>}> $shards what
     *   each holds; `first` is its oldest minute that is not deleted
     * @param ?list<string> $listed null for all of them
     */
    public function hold(array $shards, ?array $listed = null): void
    {
        $this->server->write('state.json', ['shards' => $shards, 'listed' => $listed ?? array_keys($shards)]);
    }

    /** @param list<string> $faults for the next requests, one each; '' for the right answer */
    public function fail(array $faults): void
    {
        $this->server->write('faults.json', ['draw' => ++$this->draws, 'faults' => $faults]);
    }

    /** @return list<string> the targets that were asked for */
    public function requests(): array
    {
        return $this->server->lines('requests.txt');
    }

    /**
     * @param list<array{int, string, int, int}> $ranks rank, video, impressions, clicks
     * @return array<string, mixed> what was told of one list in a minute
     */
    public static function impressions(
        int $minute,
        array $ranks,
        string $category = '',
        int $generation = 1,
    ): array {
        return ['window' => 'day', ...compact('minute', 'category', 'generation', 'ranks')];
    }

    /** @return array<string, mixed> lists served in a minute, of one page */
    public static function served(int $minute, int $lists, int $offset = 0, int $count = 24): array
    {
        return [
            'window' => 'day',
            'category' => '',
            'minute' => $minute,
            'pages' => [[$offset, $count, $lists]],
        ];
    }
}
