<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Database;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\Migrator;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\TemporaryFolder;

/** A database says which origins can read it, so that the writer can be upgraded before they are. */
final class OldestReaderTest extends TestCase
{
    private TemporaryFolder $folder;
    private Database $database;

    protected function setUp(): void
    {
        $this->folder = new TemporaryFolder();
        $this->database = Database::inMemory();
    }

    #[Test]
    public function a_migration_is_for_origins_of_its_own_version_unless_it_says_that_older_ones_can_read_it(): void
    {
        $this->migration('0001_one', '');
        self::assertSame(1, $this->migrate());
        $this->migration('0002_two', '-- Origins of schema version 1 and later can read what this makes.');
        self::assertSame(1, $this->migrate());
        $this->migration('0003_three', '-- Comes with something that they have to know.');
        self::assertSame(3, $this->migrate());
        $this->migration('0004_four', '-- Origins of schema version 2 and later can read what this makes.');
        self::assertSame(3, $this->migrate(), 'they cannot read what 0003 made');
    }

    #[Test]
    public function the_writer_says_it_in_the_file(): void
    {
        $installation = Installation::migrated();
        $version = $installation->value('SELECT max(version) FROM schema_migrations');

        self::assertContains($installation->value('PRAGMA user_version'), range(1, $version));
    }

    private function migration(string $name, string $comment): void
    {
        $this->folder->write("$name.sql", "$comment\nCREATE TABLE t_$name (x INTEGER) STRICT;\n");
    }

    private function migrate(): int
    {
        Migrator::of($this->database, $this->folder->path, new FixedClock())->migrate();

        return $this->database->value('PRAGMA user_version');
    }
}
