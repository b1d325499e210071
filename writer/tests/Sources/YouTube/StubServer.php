<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources\YouTube;

use RuntimeException;
use TrendVault\Writer\Tests\Support\TemporaryFolder;

/** Answers as YouTube's Data API does, on a port of its own. */
final class StubServer
{
    public readonly string $url;
    private readonly TemporaryFolder $folder;
    /** @var resource */
    private readonly mixed $process;

    public function __construct()
    {
        $this->folder = new TemporaryFolder();
        $command = [PHP_BINARY, '-S', '127.0.0.1:0', __DIR__ . '/stub.php'];
        $environment = ['STUB_FOLDER' => $this->folder->path, 'PATH' => (string) getenv('PATH')];
        $this->process = proc_open(
            $command,
            [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], ['pipe', 'w']],
            $pipes,
            null,
            $environment,
        );
        while (($line = fgets($pipes[2])) !== false) {
            if (preg_match('~http://127\.0\.0\.1:\d+~', $line, $match) === 1) {
                $this->url = "$match[0]/youtube/v3/videos";
                fclose($pipes[2]); // a pipe that is not read fills, and the server would wait in the middle of its log

                return;
            }
        }
        throw new RuntimeException('the stub server did not start');
    }

    public function __destruct()
    {
        proc_terminate($this->process, SIGKILL);
        proc_close($this->process);
    }

    /** @param array<string, list<array<string, mixed>>> $script answers by region and page, as "GB 1" */
    public function answer(array $script): void
    {
        $this->folder->write('script.json', json_encode($script, JSON_THROW_ON_ERROR));
    }

    /** @return list<array<string, mixed>> */
    public function requests(): array
    {
        $lines = @file("{$this->folder->path}/requests.ndjson") ?: [];

        return array_map(
            static fn(string $line): array => json_decode($line, true, flags: JSON_THROW_ON_ERROR),
            $lines,
        );
    }

    /**
     * A page as videos.list answers.
     *
     * @param list<string> $ids
     * @return array<string, mixed>
     */
    public static function page(array $ids, ?int $next = null, ?string $etag = null): array
    {
        return [
            'etag' => $etag ?? '"' . md5(implode($ids)) . '"',
            'body' => [
                ...$next === null ? [] : ['nextPageToken' => "page $next"],
                'items' => array_map(self::item(...), $ids),
            ],
        ];
    }

    /** @return array<string, mixed> */
    public static function error(int $status, string $reason): array
    {
        return [
            'status' => $status,
            'body' => [
                'error' => [
                    'code' => $status,
                    'message' => 'why',
                    'errors' => [['domain' => 'youtube', 'reason' => $reason]],
                ],
            ],
        ];
    }

    /** @return array<string, mixed> */
    private static function item(string $id): array
    {
        return [
            'id' => $id,
            'snippet' => [
                'publishedAt' => '2025-11-19T08:00:00Z',
                'title' => "Title of $id",
                'channelTitle' => "Channel of $id",
                'categoryId' => '10',
                'defaultAudioLanguage' => 'en-GB',
            ],
            'statistics' => ['viewCount' => '123456', 'likeCount' => '789'],
            'contentDetails' => ['duration' => 'PT1H4M13S'],
        ];
    }
}
