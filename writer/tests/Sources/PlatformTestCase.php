<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources;

use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Sources\PlatformSource;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\MigratedDatabase;

/** A source in front of a server that answers as it is told, and a database that remembers its runs. */
abstract class PlatformTestCase extends TestCase
{
    protected Database $database;
    protected FixedClock $clock;
    /** Of the last run. */
    protected ?string $failure = null;

    protected function setUp(): void
    {
        $this->database = MigratedDatabase::inMemory();
        $this->clock = new FixedClock();
    }

    /**
     * What a run reads.
     *
     * @return list<array<string, mixed>>
     */
    protected function linesOf(PlatformSource $source): array
    {
        [$lines, $this->failure] = [[], null];
        try {
            foreach ($source->lines() as $line) {
                $lines[] = json_decode($line, true, flags: JSON_THROW_ON_ERROR);
            }
        } catch (SourceFailure $failure) {
            $this->failure = $failure->getMessage();
        }
        $source->settle(clean: true);

        return $lines;
    }
}
