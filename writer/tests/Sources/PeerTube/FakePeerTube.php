<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources\PeerTube;

use TrendVault\Writer\Tests\Support\PhpServer;

/** A PeerTube instance on a port of its own, faults included. */
final class FakePeerTube
{
    /** What an answer can be in place of the right one; peertube.php says what each does. */
    public const array FAULTS = [
        'status 500',
        'status 502',
        'status 404',
        'status 403',
        'status 418',
        'status 204',
        'status 429',
        'status 429 after 7',
        'status 503 after 7',
        'html',
        'truncated',
        'empty',
        'no list',
        'a list',
        'text',
        'huge',
        'bomb',
        'brackets',
        'nested',
        'no videos',
        'negative',
        'beyond',
        'types',
        'controls',
        'other host',
        'not local',
        'other pictures',
        'same again',
        'not modified',
        'redirect',
        'disconnected',
    ];

    /** As SOURCES has it. */
    public readonly string $source;
    /** With its port, as PeerTube writes it. */
    public readonly string $host;
    private readonly PhpServer $server;

    public function __construct()
    {
        $this->server = new PhpServer(__DIR__ . '/peertube.php', ['PHP_CLI_SERVER_WORKERS' => '2']);
        $this->source = "peertube:{$this->server->address}";
        $this->host = substr($this->server->address, strlen('http://'));
        $this->hold([]);
    }

    /**
     * @param list<array<string, mixed>> $videos `number`, and what differs from the documented example
     * @param array<string, mixed> $more `made` for so many videos without a description, `limit` of requests in
     *   `limited_seconds`, ten if not given, `always` for a fault of every answer, `failing` for pages that are answered
     *   with 500, `unfiltered` for one that does not know the parameters
     */
    public function hold(array $videos, array $more = []): void
    {
        $this->server->write('state.json', ['videos' => $videos, ...$more]);
    }

    /** @param list<string> $faults for the next requests, one each; '' for the right answer */
    public function fail(array $faults): void
    {
        $this->server->write('faults.json', $faults);
    }

    /** @return list<array{query: array<string, string>, headers: array<string, string>}> */
    public function requests(): array
    {
        return $this->server->records('requests.ndjson');
    }

    /** @return list<int> where each request began, in videos */
    public function starts(): array
    {
        return array_map(
            static fn(array $request): int => (int) $request['query']['start'],
            $this->requests(),
        );
    }

    /** The id that a video has here. */
    public function id(int $number): string
    {
        return strtr(sprintf('%022d', $number), '0123456789', 'aBcDeFgHjK') . "~$this->host";
    }
}
