<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Cli;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use RuntimeException;
use SQLite3Exception;
use TrendVault\Writer\Database\DatabaseFailure;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\Process;
use TrendVault\Writer\Tests\Support\TemporaryFolder;
use TrendVault\Writer\WriterException;

final class CommandLineTest extends TestCase
{
    #[Test]
    public function memory_that_is_used_up_is_logged_and_has_an_exit_code(): void
    {
        $installation = Installation::migrated();
        $file = $installation->folder->write(
            'a.ndjson',
            str_repeat('"' . str_repeat('x', 1_000_000) . "\"\n", 9),
        );
        $process = new Process(
            [PHP_BINARY, '-d', 'memory_limit=8M', __DIR__ . '/../../src/main.php', 'ingest', $file],
            ['DB_PATH' => $installation->database],
        );
        $result = $process->wait();

        self::assertSame(ExitCode::Internal, $result->exitCode);
        self::assertStringContainsString('memory size of', $result->message('bug'));
    }

    #[Test]
    public function quiet_writes_errors_and_nothing_else(): void
    {
        $installation = Installation::migrated(['SOURCES' => 'demo-that-is-missing']);
        $result = $installation->run(['cron', '-q']);

        self::assertSame(ExitCode::SourceFailed, $result->exitCode);
        self::assertSame(['error'], array_unique(array_column($result->events('source_failed'), 'level')));
        self::assertCount(1, explode("\n", trim($result->errors)));
    }

    #[Test]
    public function no_colours_are_written_where_there_is_no_terminal(): void
    {
        $installation = new Installation(['COLORTERM' => 'truecolor', 'TERM' => 'xterm-256color']);

        foreach ([['list'], ['status', '--help'], ['ststus']] as $words) {
            $result = $installation->run($words);
            self::assertStringNotContainsString("\e[", $result->output . $result->errors);
        }
    }

    #[Test]
    public function a_class_that_is_newer_than_the_list_of_them_is_found_in_its_folder(): void
    {
        $folder = new TemporaryFolder();
        mkdir("$folder->path/Time");
        copy(__DIR__ . '/../../src/libraries.php', "$folder->path/libraries.php");
        $code = "<?php\nnamespace TrendVault\\Writer\\Time;\nfinal class A {}\nenum Season {}\n";
        file_put_contents("$folder->path/Time/A.php", $code);
        $script =
            'require $argv[1]; foreach (["Season", "A", "B"] as $name) echo (int) class_exists($argv[2] . $name);';
        $arguments = ["$folder->path/libraries.php", 'TrendVault\\Writer\\Time\\'];
        $result = new Process([PHP_BINARY, '-r', $script, ...$arguments], [])->wait();

        self::assertSame('110', $result->output);
    }

    #[Test]
    public function without_its_libraries_it_says_how_to_install_them(): void
    {
        $folder = new TemporaryFolder();
        mkdir("$folder->path/src");
        copy(dirname(__DIR__, 2) . '/src/main.php', "$folder->path/src/main.php");
        $result = new Process([PHP_BINARY, "$folder->path/src/main.php"], [])->wait();

        self::assertSame(ExitCode::Internal, $result->exitCode);
        self::assertSame(
            "writer: its libraries are missing. Run bin/setup, or composer install --no-dev in writer/.\n",
            $result->errors,
        );
    }

    #[Test]
    public function it_runs_from_any_folder_under_the_short_path_of_cron_and_through_a_link(): void
    {
        $installation = new Installation();
        symlink(dirname(__DIR__, 2) . '/bin/writer', "{$installation->folder->path}/writer");
        $result = new Process(
            ['/bin/sh', '-c', 'cd / && exec "$0" migrate', "{$installation->folder->path}/writer"],
            [
                'PATH' => '/usr/bin:/bin:' . dirname(PHP_BINARY),
                'DB_PATH' => $installation->database,
            ],
        )->wait();

        self::assertSame(ExitCode::Ok, $result->exitCode);
        self::assertFileExists($installation->database);
    }

    /** @param list<string> $words */
    #[Test]
    #[DataProvider('mistakes')]
    public function a_mistake_is_answered_with_what_was_expected(array $words, string $expected): void
    {
        $result = new Installation()->run($words);

        self::assertSame(ExitCode::Usage, $result->exitCode);
        self::assertStringContainsString($expected, $result->message());
    }

    /** @return iterable<array{list<string>, string}> */
    public static function mistakes(): iterable
    {
        yield [['ingset'], 'Command "ingset" is not defined. Did you mean this? ingest. See writer --help.'];
        yield [['rank', '--when', 'now'], 'The "--when" option does not exist'];
        yield [['rank', '--at'], 'The "--at" option requires a value'];
        yield [['rank', '--at', 'yesterday'], 'expected a time like'];
        yield [['status', '--json=yes'], 'The "--json" option does not accept a value'];
        yield [['cron', 'demo'], 'No arguments expected for "cron" command, got "demo"'];
        yield [['ingest'], 'missing: "sources"'];
        yield [['ingest', '--shift-to-now', '-'], 'reads a source twice'];
        yield [['backtest', '--from', 'spring', 'x'], 'expected a date'];
        yield [['explain', 'GB'], 'missing: "video"'];
        yield [['status', '-x'], 'The "-x" option does not exist'];
        yield [['remove', 'An id?'], 'Cannot read An id?: expected the id of a video'];
        yield [['remove', '--channel', ''], 'expected a name of 1 to 200 characters'];
    }

    /** @param array<string, string> $environment */
    #[Test]
    #[DataProvider('settings')]
    public function a_setting_that_cannot_be_read_is_named_with_an_example(
        array $environment,
        string $expected,
    ): void {
        $result = new Installation($environment)->run(['status']);

        self::assertSame(ExitCode::Usage, $result->exitCode);
        self::assertStringContainsString($expected, $result->message());
    }

    /** @return iterable<array{array<string, string>, string}> */
    public static function settings(): iterable
    {
        yield [
            ['OBSERVATION_RETENTION_HOURS' => 'many'],
            'Cannot read OBSERVATION_RETENTION_HOURS=many: expected a whole number from 24 to 87600, for example 672',
        ];
        yield [['GENERATION_RETENTION_HOURS' => '-1'], 'expected a number from 0 to 168, for example 0.75'];
        yield [['EXPLORE_SHARE' => '2'], 'EXPLORE_SHARE=2'];
    }

    #[Test]
    #[DataProvider('resultCodes')]
    public function a_failure_of_the_database_has_the_exit_code_of_its_kind(
        int $resultCode,
        ExitCode $expected,
    ): void {
        $failure = DatabaseFailure::from(new SQLite3Exception('why', $resultCode), '/no/such.db');

        self::assertSame($expected, WriterException::exitCodeOf($failure));
    }

    /** @return iterable<string, array{int, ExitCode}> a result code of SQLite for each kind */
    public static function resultCodes(): iterable
    {
        yield 'SQLITE_NOTADB' => [26, ExitCode::DatabaseUnavailable];
        yield 'SQLITE_BUSY' => [5, ExitCode::DatabaseBusy];
        yield 'SQLITE_FULL' => [13, ExitCode::DiskFull];
        yield 'SQLITE_ERROR' => [1, ExitCode::Internal];
    }

    #[Test]
    public function an_exception_that_is_not_the_writers_own_is_a_bug(): void
    {
        self::assertSame(ExitCode::Internal, WriterException::exitCodeOf(new RuntimeException('a bug')));
    }
}
