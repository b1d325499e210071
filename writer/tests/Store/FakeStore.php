<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Store;

use TrendVault\Writer\Tests\Support\PhpServer;

/** An object store that speaks S3, on a port of its own; faults included. */
final class FakeStore
{
    public const string ADDRESS = 's3://lists/production';
    /** What its writers call it. */
    public const string NAME = 'lists/production';
    public const string SIGNING_KEY = 'MRZQXbCkdY7RCNvJY15Kh3t5bXU9L1z6DcETQ1dz2pk';
    /** What an answer can be in place of the right one; store.php says what each does. */
    public const array FAULTS = [
        '500',
        '503',
        '403 AccessDenied',
        '507 QuotaExceeded',
        '409 ConditionalRequestConflict',
        'garbage',
        'truncated',
        'lying-etag',
        'half',
        'lost',
        'unanswered',
    ];

    public readonly string $url;
    private readonly PhpServer $server;
    private int $draws = 0;

    /** @param int $page how many objects a page of a list has at most */
    public function __construct(int $page = 1000)
    {
        $this->server = new PhpServer(
            __DIR__ . '/store.php',
            ['STORE_PAGE' => (string) $page],
            ['-d', 'post_max_size=1G'],
        );
        mkdir("{$this->server->folder->path}/objects");
        $this->url = $this->server->address;
    }

    /** @return array<string, string> the settings of a writer that publishes here */
    public function settings(): array
    {
        return [
            'PUBLISH_URL' => self::ADDRESS,
            'S3_ENDPOINT_URL' => $this->url,
            'S3_ACCESS_KEY_ID' => 'AKIDTEST',
            'S3_SECRET_ACCESS_KEY' => 'not-to-be-logged',
            'PUBLISH_SIGNING_KEYS' => self::SIGNING_KEY,
        ];
    }

    /** @param list<array{fault: string, method?: string, key?: string, for_ever?: true}> $rules each is used up by a request */
    public function fail(array $rules): void
    {
        $this->server->write('faults.json', ['draw' => ++$this->draws, 'rules' => $rules]);
    }

    /** Lets a request go on that the fault 'held' keeps waiting. */
    public function release(): void
    {
        $this->server->write('released', true);
    }

    /** @return list<string> keys relative to the prefix */
    public function keys(string $prefix = ''): array
    {
        $keys = array_map(
            static fn(string $path): string => substr(rawurldecode(basename($path)), strlen('production/')),
            glob("{$this->server->folder->path}/objects/*") ?: [],
        );

        return array_values(
            array_filter($keys, static fn(string $key): bool => str_starts_with($key, $prefix)),
        );
    }

    public function content(string $key): ?string
    {
        $content = @file_get_contents($this->path($key));

        return $content === false ? null : $content;
    }

    public function put(string $key, string $content): void
    {
        file_put_contents($this->path($key), $content);
    }

    public function delete(string $key): void
    {
        unlink($this->path($key));
    }

    /** @param int $seconds how long before $now the object was written; ages that are compared need one and the same $now */
    public function age(string $key, int $seconds, ?int $now = null): void
    {
        touch($this->path($key), ($now ?? time()) - $seconds);
    }

    /** @return list<string> every content that an object has had since the store began */
    public function history(string $key): array
    {
        $lines = $this->server->lines('history.txt');
        $start = "production/$key ";

        return array_values(
            array_map(
                static fn(string $line): string => substr($line, strlen($start)),
                array_filter($lines, static fn(string $line): bool => str_starts_with($line, $start)),
            ),
        );
    }

    /** @return list<string> such as "PUT current.json" */
    public function requests(): array
    {
        $lines = $this->server->lines('requests.txt');

        return array_map(static fn(string $line): string => str_replace(' production/', ' ', $line), $lines);
    }

    private function path(string $key): string
    {
        return "{$this->server->folder->path}/objects/" . rawurlencode("production/$key");
    }
}
