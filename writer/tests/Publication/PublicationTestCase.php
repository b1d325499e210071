<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Publication;

use PHPUnit\Framework\TestCase;
use SQLite3;
use TrendVault\Writer\Publication\Pointer;
use TrendVault\Writer\Publication\PointerReader;
use TrendVault\Writer\Publication\SigningKeys;
use TrendVault\Writer\Tests\Store\FakeStore;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;

/** A writer with a few videos that publishes into a store. */
abstract class PublicationTestCase extends TestCase
{
    /** @param array<string, string> $environment */
    protected static function installation(FakeStore $store, array $environment = []): Installation
    {
        return self::withVideos([...$store->settings(), ...$environment]);
    }

    /**
     * One that publishes bundles, too.
     *
     * @param array<string, string> $environment
     */
    protected static function rendering(FakeStore $store, array $environment = []): Installation
    {
        return self::installation($store, [
            'RENDER_COMMAND' => '"' . PHP_BINARY . '" "' . __DIR__ . '/render.php"',
            'HTTP_SOURCE_AUTHORIZATION' => 'stats.example Bearer abc',
            ...$environment,
        ]);
    }

    /** @param array<string, string> $environment */
    protected static function withVideos(array $environment): Installation
    {
        $installation = Installation::migrated($environment);
        $lines = [];
        foreach (['GB', 'DE'] as $region) {
            for ($video = 0; $video < 5; $video++) {
                $lines[] = [
                    'id' => "video-$region-$video",
                    'region' => $region,
                    'category' => 'Music',
                    'observed_at' => NdjsonLine::ago(60),
                    'views' => 1000 * ($video + 1),
                ];
            }
        }
        $installation->environment['SOURCES'] = $installation->folder->write(
            'views.ndjson',
            NdjsonLine::many($lines),
        );

        return $installation;
    }

    protected static function reader(
        string $name = FakeStore::NAME,
        string $keys = FakeStore::SIGNING_KEY,
    ): PointerReader {
        return new PointerReader(SigningKeys::read($keys)->publicKeys, $name);
    }

    protected static function current(FakeStore $store): Pointer
    {
        return self::pointer((string) $store->content('current.json'));
    }

    protected static function pointer(string $text): Pointer
    {
        $pointer = Pointer::read($text, self::reader());
        self::assertInstanceOf(Pointer::class, $pointer, $text);

        return $pointer;
    }

    /** What is stored is a whole chain of signed pointers, each of which the store has, the newest with its object. */
    protected static function assertWholeChain(FakeStore $store): void
    {
        $current = self::current($store);
        self::assertSame($current->fileBytes, strlen((string) $store->content($current->fileKey())));
        for ($pointer = $current; $pointer->previousGeneration !== null; $pointer = $previous) {
            self::assertSame($pointer->text, $store->content($pointer->key()));
            $previous = self::pointer((string) $store->content(Pointer::keyOf($pointer->previousGeneration)));
            self::assertTrue($pointer->follows($previous));
        }
        self::assertSame($pointer->text, $store->content($pointer->key()));
    }

    /** current.json was never replaced by an older pointer. A half of one, which the store kept, is none. */
    protected static function assertNeverBackwards(FakeStore $store): void
    {
        $pointers = array_filter(array_map(Pointer::parse(...), $store->history('current.json')));
        $generations = array_column($pointers, 'generation');
        $sorted = $generations;
        sort($sorted);
        self::assertSame($sorted, $generations);
    }

    /** The generation file that a pointer names, opened. */
    protected static function file(FakeStore $store, Installation $installation, Pointer $pointer): SQLite3
    {
        $path = $installation->folder->write(
            "read-$pointer->generation.db",
            (string) gzdecode((string) $store->content($pointer->fileKey())),
        );
        $database = new SQLite3($path, SQLITE3_OPEN_READONLY);
        $database->enableExceptions(true);

        return $database;
    }
}
