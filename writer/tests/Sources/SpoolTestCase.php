<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources;

use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;

/** An installation whose source is a spool folder. */
abstract class SpoolTestCase extends TestCase
{
    protected Installation $installation;
    protected string $spool;

    protected function setUp(): void
    {
        $this->installation = Installation::migrated();
        $this->useSpool('spool');
    }

    protected function useSpool(string $name): void
    {
        $this->spool = "{$this->installation->folder->path}/$name";
        mkdir($this->spool);
        $this->installation->environment['SOURCES'] = "spool:$this->spool";
    }

    protected function put(string $name, string $content): void
    {
        file_put_contents("$this->spool/.new", $content);
        rename("$this->spool/.new", "$this->spool/$name");
    }

    /** @return list<string> names, in their order */
    protected function in(string $folder): array
    {
        return array_values(array_diff(@scandir($this->taken($folder)) ?: [], ['.', '..']));
    }

    /** @param string $folder reading, done or rejected */
    protected function taken(string $folder): string
    {
        return $folder === 'reading'
            ? "{$this->installation->database}.reading"
            : "{$this->installation->folder->path}/$folder";
    }

    protected static function lines(string $prefix, int $count): string
    {
        return NdjsonLine::many(
            array_map(
                static fn(int $i): array => ['id' => "$prefix-$i", 'observed_at' => NdjsonLine::ago(60)],
                range(0, $count - 1),
            ),
        );
    }

    /** A run that comes to this video stays there until it is killed: it counts for years. */
    protected function stayAt(string $videoId): void
    {
        $tables = implode(', ', array_map(static fn(int $i): string => "sqlite_schema AS s$i", range(1, 9)));
        $this->installation->execute(
            "CREATE TRIGGER stay BEFORE INSERT ON observations WHEN new.video_id = '$videoId' BEGIN SELECT count(*) FROM $tables; END",
        );
    }

    /** @param callable(): bool $condition */
    protected static function waitFor(callable $condition): void
    {
        for ($end = microtime(true) + 600; !$condition(); usleep(1000)) {
            self::assertLessThan($end, microtime(true));
        }
    }
}
