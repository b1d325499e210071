<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources\Http;

use TrendVault\Writer\Tests\Support\PhpServer;

/** A web server with one file, on a port of its own. */
final class FileServer
{
    public readonly string $url;
    private readonly PhpServer $server;

    public function __construct()
    {
        // An endless answer does not keep the next one.
        $this->server = new PhpServer(__DIR__ . '/stub.php', ['PHP_CLI_SERVER_WORKERS' => '4']);
        $this->url = "{$this->server->address}/views.ndjson";
    }

    /**
     * @param array<string, string> $headers
     * @param array<string, mixed> $more members of stub.php's answer; with one, the body ends with the connection
     */
    public function answer(string $body, array $headers = [], int $status = 200, array $more = []): void
    {
        $this->server->write('answer.json', [
            'status' => $status,
            'headers' => (object) ($headers + ($more === [] ? ['Content-Length' => strlen($body)] : [])),
            'body' => base64_encode($body),
            ...$more,
        ]);
    }

    /** @return list<array{target: string, headers: array<string, string>}> */
    public function requests(): array
    {
        return $this->server->records('requests.ndjson');
    }
}
