<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Database;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use SQLite3;
use TrendVault\Writer\Cli\Settings;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Editorial\EditorialFile;
use TrendVault\Writer\Sources\NdjsonFile;
use TrendVault\Writer\Tests\Support\TemporaryFolder;
use TrendVault\Writer\WriterException;

final class DatabaseTest extends TestCase
{
    private TemporaryFolder $folder;
    private string $path;
    private Database $database;

    protected function setUp(): void
    {
        $this->folder = new TemporaryFolder();
        $this->path = "{$this->folder->path}/test.db";
        $this->database = Database::openForWriting($this->path, 0, mayCreate: true);
        $this->database->execute('CREATE TABLE blocks (bytes BLOB)');
    }

    protected function tearDown(): void
    {
        $this->database->close();
    }

    #[Test]
    public function commits_start_the_wal_over_before_it_is_large(): void
    {
        for ($megabyte = 0; $megabyte < 50; $megabyte++) {
            $this->write(1_000_000);
        }

        self::assertLessThan(25_000_000, $this->walBytes());
    }

    #[Test]
    public function the_wal_is_truncated_to_zero_bytes_unless_a_reader_prevents_it(): void
    {
        $reader = new SQLite3($this->path, SQLITE3_OPEN_READONLY);
        $reader->exec('BEGIN');
        $reader->querySingle('SELECT count(*) FROM blocks');
        $this->write(10_000);

        self::assertFalse($this->database->truncateWal());
        self::assertGreaterThan(10_000, $this->walBytes());
        $reader->exec('COMMIT');
        self::assertTrue($this->database->truncateWal());
        self::assertSame(0, $this->walBytes());
    }

    /** @return iterable<string, array{string, string}> */
    public static function files(): iterable
    {
        foreach (['EDITORIAL_FILE', 'REGIONS_FILE', 'VIEWS_KEYS'] as $name) {
            yield "$name, the database" => [$name, ''];
            yield "$name, what its locks are on" => [$name, '-shm'];
        }
    }

    #[Test]
    #[DataProvider('files')]
    public function a_setting_that_names_a_file_of_the_database_is_refused_and_ends_none_of_its_locks(
        string $name,
        string $suffix,
    ): void {
        $link = "{$this->folder->path}/link";
        link("$this->path$suffix", $link);
        $value = $name === 'VIEWS_KEYS' ? "file:$link" : $link;
        $settings = Settings::read([$name => $value], $this->path);
        $this->database->execute('BEGIN IMMEDIATE');
        self::assertSame('locked', $this->stateForOthers());

        try {
            match ($name) {
                'EDITORIAL_FILE' => new EditorialFile($link, ['GB'])->text(),
                'REGIONS_FILE' => $settings->regionTable(),
                'VIEWS_KEYS' => $settings->secret($name),
            };
            self::fail('it was read');
        } catch (WriterException $refusal) {
            self::assertStringContainsString("$name=$value", $refusal->getMessage());
        }
        self::assertSame('locked', $this->stateForOthers());
    }

    #[Test]
    public function a_link_that_leads_to_the_database_only_when_it_is_opened_ends_none_of_its_locks(): void
    {
        $link = new class {
            public mixed $context;
            private mixed $file;

            public function url_stat(): array
            {
                return stat(__FILE__);
            }

            public function stream_open(string $url): bool
            {
                $this->file = fopen(substr($url, strlen('link:/')), 'rb');

                return true;
            }

            public function stream_stat(): array
            {
                return fstat($this->file);
            }

            public function stream_close(): void
            {
                fclose($this->file);
            }
        };
        stream_wrapper_register('link', $link::class);
        $this->database->execute('BEGIN IMMEDIATE');

        self::assertNull(Database::openOther("link:/$this->path-shm"));
        self::assertSame('locked', $this->stateForOthers());
        stream_wrapper_unregister('link');
    }

    /** Some files of /proc, none of which has a length, let a reader wait for ever. */
    #[Test]
    public function a_setting_that_names_a_file_without_a_length_has_no_text_and_one_that_is_no_file_is_not_read(): void
    {
        $paths = [
            '/proc/self/environ',
            '/proc/self/pagemap',
            ...is_readable('/proc/kmsg') ? ['/proc/kmsg'] : [],
        ];
        foreach ($paths as $path) {
            self::assertSame('', Database::textOfOther($path, 10));
            self::assertSame(hash('sha256', ''), new NdjsonFile($path)->digest());
            $this->assertRefused($path);
        }
        posix_mkfifo($pipe = "{$this->folder->path}/pipe", 0o600);
        foreach ([$pipe, $this->folder->path, '/dev/zero', '/dev/null', "$pipe/none"] as $path) {
            self::assertNull(Database::textOfOther($path, 10));
            $this->assertRefused($path);
        }
        file_put_contents($file = "{$this->folder->path}/file", 'some text');
        self::assertSame(
            ['some text', 'some'],
            [Database::textOfOther($file, 9), Database::textOfOther($file, 3)],
        );
    }

    private function assertRefused(string $path): void
    {
        $settings = Settings::read(['VIEWS_KEYS' => "file:$path", 'REGIONS_FILE' => $path], $this->path);
        $editorial = new EditorialFile($path, ['GB']);
        foreach (
            [
                static fn(): mixed => $editorial->parse($editorial->text(), 0),
                static fn(): ?string => $settings->secret('VIEWS_KEYS'),
                static fn(): mixed => $settings->regionTable(),
                static fn(): mixed => [...new NdjsonFile($path)->lines()],
            ]
            as $read
        ) {
            try {
                $read();
                self::fail("$path was read");
            } catch (WriterException $refusal) {
                self::assertStringContainsString($path, $refusal->getMessage());
            }
        }
    }

    private function stateForOthers(): string
    {
        $script = '$db = new SQLite3($argv[1]); echo @$db->exec("BEGIN IMMEDIATE") ? "free" : "locked";';

        return (string) shell_exec(
            implode(' ', array_map(escapeshellarg(...), [PHP_BINARY, '-r', $script, '--', $this->path])),
        );
    }

    private function write(int $bytes): void
    {
        $this->database->run('INSERT INTO blocks VALUES (randomblob(?))', [$bytes]);
    }

    private function walBytes(): int
    {
        clearstatcache();

        return (int) filesize("$this->path-wal");
    }
}
