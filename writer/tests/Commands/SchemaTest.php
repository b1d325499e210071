<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Commands;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Cli\Settings;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\Migrator;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\TemporaryFolder;

/** What `migrate` makes; and which origins can read it, so that the writer can be upgraded before they are. */
final class SchemaTest extends TestCase
{
    private TemporaryFolder $folder;
    private Database $database;

    #[Test]
    public function the_committed_schema_is_what_base_and_migrations_add_up_to(): void
    {
        self::assertSame(
            file_get_contents(Settings::projectRoot() . '/db/schema.sql'),
            new Installation()->run(['schema'])->output,
        );
    }

    #[Test]
    public function a_migrated_file_has_that_schema_the_regions_and_a_wal(): void
    {
        $installation = Installation::migrated();

        foreach (
            $installation->rows(
                "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'",
            )
            as ['sql' => $sql]
        ) {
            self::assertStringContainsString(
                $sql,
                (string) file_get_contents(Settings::projectRoot() . '/db/schema.sql'),
            );
        }
        self::assertSame(14, $installation->value('SELECT count(*) FROM regions'));
        self::assertSame('wal', $installation->value('PRAGMA journal_mode'));
    }

    #[Test]
    public function a_region_with_a_new_name_is_renamed_and_one_that_is_no_longer_listed_stays(): void
    {
        $installation = Installation::migrated();
        $before = $installation->rows('SELECT * FROM regions');
        $installation->execute(
            "UPDATE regions SET name = 'Another name', languages = '[]' WHERE code = 'GB'",
        );
        $installation->execute("INSERT INTO regions (code, name, languages) VALUES ('ZZ', 'Atlantis', '[]')");
        $installation->run(['migrate']);

        self::assertSame($before, $installation->rows("SELECT * FROM regions WHERE code <> 'ZZ'"));
        self::assertSame(15, $installation->value('SELECT count(*) FROM regions'));
    }

    #[Test]
    public function migrating_twice_applies_nothing_twice(): void
    {
        $installation = Installation::migrated();
        $before = $installation->rows('SELECT * FROM schema_migrations');

        self::assertSame(ExitCode::Ok, $installation->run(['migrate'])->exitCode);
        self::assertSame($before, $installation->rows('SELECT * FROM schema_migrations'));
    }

    #[Test]
    public function each_applied_migration_is_an_event_and_a_current_database_is_another(): void
    {
        $installation = new Installation();
        [$first, $second] = [$installation->run(['migrate']), $installation->run(['migrate'])];

        self::assertSame(
            array_column($installation->rows('SELECT version FROM schema_migrations'), 'version'),
            array_column($first->events('migration_applied'), 'version'),
        );
        self::assertSame([], $second->events('migration_applied'));
        foreach ([$first, $second] as $result) {
            self::assertSame("$installation->database is up to date.", $result->message('database_current'));
        }
    }

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
