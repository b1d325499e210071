<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources\YouTube;

use TrendVault\Writer\Tests\Support\PhpServer;

/** Answers as YouTube's Data API does, on a port of its own. */
final class StubServer
{
    public readonly string $url;
    private readonly PhpServer $server;

    public function __construct()
    {
        $this->server = new PhpServer(__DIR__ . '/stub.php');
        $this->url = "{$this->server->address}/youtube/v3/videos";
    }

    /** @param array<string, list<array<string, mixed>>> $script answers by region and page, as "GB 1" */
    public function answer(array $script): void
    {
        $this->server->write('script.json', $script);
    }

    /** @return list<array<string, mixed>> */
    public function requests(): array
    {
        return $this->server->records('requests.ndjson');
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
                'tags' => ['a tag', "line\nbreak"],
                'channelTitle' => "Channel of $id",
                'categoryId' => '10',
                'defaultAudioLanguage' => 'en-GB',
            ],
            'statistics' => ['viewCount' => '123456', 'likeCount' => '789'],
            'contentDetails' => ['duration' => 'PT1H4M13S'],
            'status' => ['license' => 'creativeCommon'],
            'localizations' => ['de' => ['title' => "Titel von $id"]],
        ];
    }
}
